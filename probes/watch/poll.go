package watch

import (
	"fmt"
	"hash/maphash"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// remoteFS says why changes below path may come without a notification: other
// machines, or a user space server, can make them. Magic numbers from
// statfs(2) and the kernel's include/uapi/linux/magic.h.
func remoteFS(path string) string {
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		return ""
	}
	names := map[uint32]string{
		0x6969: "NFS", 0x65735546: "FUSE", 0x517b: "SMB", 0xff534d42: "CIFS", 0xfe534d42: "SMB2", 0x01021997: "9P",
		0x00c36400: "Ceph", 0x0bd00bd0: "Lustre", 0x47504653: "GPFS", 0x19830326: "BeeGFS", 0x5346414f: "AFS", 0x786f4256: "vboxsf",
	}
	if n := names[uint32(st.Type)]; n != "" {
		return "lies on " + n + ", where others can change files without a notification"
	}
	return ""
}

// poll puts a root on the slow poll; the first reason stays.
func (w *Watcher) poll(r *root, why string) {
	if r.polled != "" {
		return
	}
	r.polled, r.every = why, w.pollEvery
	r.due = time.Now().Add(r.every)
	r.sign, _ = w.signature(r)
}

// nextPoll is when the next root is due; zero when none is polled.
func (w *Watcher) nextPoll() time.Time {
	var next time.Time
	for _, r := range w.roots {
		if r.polled != "" && (next.IsZero() || r.due.Before(next)) {
			next = r.due
		}
	}
	return next
}

func (w *Watcher) pollDue(now time.Time) {
	for _, r := range w.roots {
		if r.polled == "" || r.due.After(now) {
			continue
		}
		if r.replaced() {
			w.rearm(r, now)
			r.due = now.Add(w.pollEvery)
			continue
		}
		sign, whole := w.signature(r)
		if sign != r.sign || !whole {
			r.sign = sign
			w.pending.add(now, r.Tag, r.Path)
			w.pending.rescan = true
		}
		// A slow file system is asked less often, so that polling takes at most a
		// twentieth of the time.
		took := time.Since(now)
		if every := max(w.pollEvery, 20*took); every != r.every {
			r.every = every
			w.publish()
		}
		r.due = time.Now().Add(r.every)
	}
}

// signature is a hash over names, sizes and times below the root. whole is
// false when there is more than is looked at: then a change can hide.
func (w *Watcher) signature(r *root) (sum uint64, whole bool) {
	var h maphash.Hash
	h.SetSeed(w.seed)
	if r.missing {
		return 0, true
	}
	seen := 0
	for todo := []string{r.real}; len(todo) > 0; {
		dir := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		entries, err := os.ReadDir(dir)
		if err != nil {
			fmt.Fprintf(&h, "%s!%v\x00", dir, err)
			continue
		}
		for _, e := range entries {
			if seen++; seen > maxEntries {
				return h.Sum64(), false
			}
			info, err := e.Info()
			if err != nil {
				continue
			}
			path := filepath.Join(dir, e.Name())
			fmt.Fprintf(&h, "%s\x00%d\x00%d\x00%o\x00", path, info.Size(), info.ModTime().UnixNano(), info.Mode())
			if e.IsDir() && r.Recursive && !w.skip[e.Name()] {
				todo = append(todo, path)
			}
		}
	}
	return h.Sum64(), true
}
