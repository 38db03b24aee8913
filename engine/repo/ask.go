package repo

import "strings"

// HumanizeDir is exempt from Humanize's clean-tree check; so it is from Dirty.
const HumanizeDir = ".humanize"

// Dirty returns the files that Humanize's clean-tree check would refuse: all
// changed and untracked ones outside .humanize.
func (r Repo) Dirty() []File {
	var out []File
	for _, f := range r.Files {
		if f.Path != HumanizeDir && !strings.HasPrefix(f.Path, HumanizeDir+"/") {
			out = append(out, f)
		}
	}
	return out
}

// Short is the usual abbreviation of a commit id for display.
func Short(sha string) string {
	if len(sha) > 9 {
		return sha[:9]
	}
	return sha
}

// Touches reports whether the diff changes path or something below it.
func (d DiffStat) Touches(path string) bool {
	for _, f := range d.Files {
		if under(f.Path, path) || f.From != "" && under(f.From, path) {
			return true
		}
	}
	return false
}

func under(p, dir string) bool {
	return p == dir || strings.HasPrefix(p, strings.TrimSuffix(dir, "/")+"/")
}
