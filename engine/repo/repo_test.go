package repo

import "testing"

func TestClean(t *testing.T) {
	for _, c := range []struct {
		name  string
		r     Repo
		clean bool
		dirty int
	}{
		{"nobody looked", Repo{}, false, 0},
		{"list not read", Repo{State: Worktree}, false, 0},
		{"clean", Repo{State: Worktree, FilesKnown: true}, true, 0},
		{"only humanize", Repo{State: Worktree, FilesKnown: true, FileCount: 2, Files: []File{{Path: ".humanize/"}, {Path: ".humanize/rlcr/x"}}}, true, 0},
		{"look-alike", Repo{State: Worktree, FilesKnown: true, FileCount: 1, Files: []File{{Path: ".humanize2"}}}, false, 1},
		{"list was cut", Repo{State: Worktree, FilesKnown: true, FileCount: 9, Files: []File{{Path: ".humanize/a"}}}, false, 0},
	} {
		if got := c.r.Clean(); got != c.clean || len(c.r.Dirty()) != c.dirty {
			t.Errorf("%s: clean %v dirty %v", c.name, got, c.r.Dirty())
		}
	}
}

func TestShortAndTouches(t *testing.T) {
	if Short("0123456789abcdef") != "012345678" || Short("abc") != "abc" {
		t.Error("Short")
	}
	d := DiffStat{Files: []FileStat{{Path: "kernels/a.py"}, {Path: "new.py", From: "tests/judge.py"}}}
	for path, want := range map[string]bool{"kernels": true, "kernels/": true, "kernels/a.py": true, "kern": false, "tests/judge.py": true, "tests": true} {
		if d.Touches(path) != want {
			t.Errorf("Touches(%q) = %v", path, !want)
		}
	}
}
