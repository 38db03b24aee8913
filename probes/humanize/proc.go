package humanize

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// Proc finds writers through a proc file system. The zero value looks at /proc.
// Only processes whose descriptors this user may read are seen.
type Proc struct {
	// Dir is the proc file system, /proc when empty.
	Dir string
}

// Writers implements Processes.
func (p Proc) Writers(ctx context.Context, paths []string) ([]Writer, error) {
	dir := p.Dir
	if dir == "" {
		dir = "/proc"
	}
	f, err := os.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("can not look at processes: %w", err)
	}
	defer f.Close()
	list, err := f.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("can not look at processes: %w", err)
	}
	want := map[string]bool{}
	for _, s := range paths {
		want[s] = true
	}
	var out []Writer
	found := false
	for _, n := range list {
		pid, err := strconv.Atoi(n)
		if err != nil || pid <= 0 {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		found = true
		errPath, _ := os.Readlink(filepath.Join(dir, n, "fd", "2"))
		outPath, _ := os.Readlink(filepath.Join(dir, n, "fd", "1"))
		for _, s := range []string{errPath, outPath} {
			if want[s] && (s == errPath || errPath != outPath) {
				out = append(out, Writer{PID: pid, Path: s, Stdout: outPath == s, Stderr: errPath == s})
				if errPath == outPath {
					break
				}
			}
		}
	}
	if !found {
		return nil, fmt.Errorf("can not look at processes: %s lists none", dir)
	}
	return out, nil
}
