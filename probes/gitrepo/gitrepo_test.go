package gitrepo

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"kdapilot/engine/fact"
	"kdapilot/engine/repo"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// git runs real git for the set-up of a test.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@example.invalid", "-c", "commit.gpgSign=false"}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func write(t *testing.T, dir, name, content string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// sample has a base branch with one commit and a work branch two ahead.
func sample(t *testing.T) (dir, base string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed: the git probe can not be tested")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	git(t, dir, "init", "-q", "-b", "lab/base")
	write(t, dir, "kernels/flash.py", "one\ntwo\n")
	write(t, dir, "judge.py", "limit = 1e-2\n")
	write(t, dir, ".gitignore", "*.csv\n")
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-qm", "base")
	base = git(t, dir, "rev-parse", "HEAD")
	git(t, dir, "checkout", "-qb", "rlcr/fa")
	write(t, dir, "kernels/flash.py", "one\n2\nthree\n")
	git(t, dir, "commit", "-qam", "first \x1b[31mred\x1b[0m")
	git(t, dir, "mv", "judge.py", "judge two.py")
	git(t, dir, "commit", "-qm", "second")
	return dir, base
}

func TestSnapshot(t *testing.T) {
	dir, base := sample(t)
	write(t, dir, "kernels/flash.py", "dirty\n")
	write(t, dir, "new file\n.py", "x")
	write(t, dir, ".humanize/rlcr/x", "x")
	write(t, dir, "fmha_perf.csv", "ignored")
	git(t, dir, "mv", "judge two.py", "judge3.py")
	r := Git{}.Snapshot(context.Background(), filepath.Join(dir, "kernels"), "lab/base")
	if r.State != repo.Worktree || r.Root != dir || r.Branch != "rlcr/fa" || r.Detached || r.Head != git(t, dir, "rev-parse", "HEAD") || r.Origin.Status != fact.OK {
		t.Fatalf("%+v", r)
	}
	want := []repo.File{
		{Path: "judge3.py", From: "judge two.py", Change: repo.Renamed, Staged: true},
		{Path: "kernels/flash.py", Change: repo.Modified, Unstaged: true},
		{Path: ".humanize/", Change: repo.Untracked, Unstaged: true},
		{Path: "new file .py", Raw: "new file\n.py", Change: repo.Untracked, Unstaged: true},
	}
	if d := cmp.Diff(want, r.Files); d != "" {
		t.Error(d)
	}
	if r.Clean() || len(r.Dirty()) != 3 {
		t.Errorf("dirty: %v", r.Dirty())
	}
	b := r.Base
	if b == nil || b.Commit != base || !b.IsBranch || b.Status != fact.OK || b.IsAncestor == nil || !*b.IsAncestor || *b.Distance != (repo.Distance{Ahead: 2}) {
		t.Fatalf("base %+v", b)
	}
	if len(b.Commits) != 2 || b.Commits[0].Subject != "second" || b.Commits[1].Subject != "first red" || b.Commits[0].Time.IsZero() {
		t.Errorf("commits %+v", b.Commits)
	}
	wantDiff := &repo.DiffStat{Files: []repo.FileStat{
		{Path: "judge two.py", From: "judge.py"}, {Path: "kernels/flash.py", Added: 2, Deleted: 1},
	}, FileCount: 2, Added: 2, Deleted: 1}
	if d := cmp.Diff(wantDiff, b.Diff); d != "" {
		t.Error(d)
	}
	if !b.Diff.Touches("kernels") || !b.Diff.Touches("judge.py") || b.Diff.Touches("kern") {
		t.Error("Touches is wrong")
	}
}

func TestSnapshotCleanAndDiverged(t *testing.T) {
	dir, base := sample(t)
	write(t, dir, ".humanize/x", "x")
	r := Git{}.Snapshot(context.Background(), dir, base)
	if !r.Clean() || r.Base.IsBranch || r.Base.Commit != base {
		t.Errorf("%+v base %+v", r, r.Base)
	}
	git(t, dir, "checkout", "-q", "lab/base")
	write(t, dir, "b", "b")
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-qm", "base moved")
	git(t, dir, "checkout", "-q", "--detach", "rlcr/fa")
	r = Git{}.Snapshot(context.Background(), dir, "lab/base")
	if !r.Detached || r.Branch != "" || *r.Base.IsAncestor || *r.Base.Distance != (repo.Distance{Ahead: 2, Behind: 1}) {
		t.Errorf("%+v base %+v", r, r.Base)
	}
}

func TestSnapshotOfOddPlaces(t *testing.T) {
	dir, _ := sample(t)
	outside := t.TempDir()
	bare := filepath.Join(outside, "bare.git")
	git(t, dir, "clone", "-q", "--bare", ".", bare)
	unborn := filepath.Join(outside, "unborn")
	git(t, outside, "init", "-q", unborn)
	copied := filepath.Join(outside, "copied")
	write(t, copied, ".git", "gitdir: /no/such/place/.git/worktrees/x\n")
	write(t, copied, "a", "a")
	t.Setenv("GIT_CEILING_DIRECTORIES", outside)
	t.Setenv("GIT_DIR", bare) // as inside a hook: must not lead astray
	for _, c := range []struct {
		name, dir, bin string
		want           repo.State
	}{
		{"worktree", dir, "", repo.Worktree},
		{"bare", bare, "", repo.Bare},
		{"unborn", unborn, "", repo.Worktree},
		{"no repository", t.TempDir(), "", repo.None},
		{"copied worktree", copied, "", repo.None},
		{"vanished", filepath.Join(outside, "gone"), "", repo.Gone},
		{"no git", dir, filepath.Join(outside, "no-such-git"), repo.NoTool},
	} {
		r := Git{Bin: c.bin}.Snapshot(context.Background(), c.dir, "lab/base")
		if c.name == "no git" && r.State == repo.Failed {
			continue // an absolute path that is missing is not "not on PATH"
		}
		if r.State != c.want || r.State != repo.Worktree && (r.Why == "" || r.Origin.Status.Known()) {
			t.Errorf("%s: state %q why %q origin %+v", c.name, r.State, r.Why, r.Origin)
		}
		if c.name == "unborn" && (!r.Unborn || r.Head != "" || r.Base.Status != fact.Missing) {
			t.Errorf("unborn: %+v %+v", r, r.Base)
		}
	}
	t.Setenv("PATH", outside)
	if r := (Git{}).Snapshot(context.Background(), dir, ""); r.State != repo.NoTool {
		t.Errorf("without git: %q %q", r.State, r.Why)
	}
}

func TestBaseThatIsNoLocalBranch(t *testing.T) {
	dir, base := sample(t)
	git(t, dir, "tag", "v1")
	git(t, dir, "update-ref", "refs/remotes/upstream/main", base)
	for name, want := range map[string]fact.Status{
		"v1": fact.Missing, "upstream/main": fact.Missing, base[:10]: fact.Missing, strings.Repeat("0", 40): fact.Missing,
		"--output=/tmp/x": fact.Unreadable, "a..b": fact.Unreadable, "HEAD^": fact.Unreadable, "lab/base": fact.OK, base: fact.OK,
	} {
		r := Git{}.Snapshot(context.Background(), dir, name)
		if r.State != repo.Worktree || r.Base == nil || r.Base.Status != want || want != fact.OK && (r.Base.Why == "" || r.Base.Commit != "") {
			t.Errorf("base %q: state %q base %+v", name, r.State, r.Base)
		}
	}
}

func TestHostileBranchName(t *testing.T) {
	dir, _ := sample(t)
	// Git itself refuses control characters in names; UTF-8 overrides pass.
	git(t, dir, "checkout", "-qb", "evil\u202ename")
	r := Git{}.Snapshot(context.Background(), dir, "")
	if r.Branch != "evilname" {
		t.Errorf("branch %q", r.Branch)
	}
	st, err := parseStatus([]byte("# branch.oid (initial)\x00# branch.head a\x1b]52;c;eA==\x07b\x00? \x1b[2Jx\x00"))
	if err != nil || st.branch != "ab" || st.files[0].Path != "x" {
		t.Errorf("%+v %v", st, err)
	}
}

func TestQuestions(t *testing.T) {
	dir, base := sample(t)
	ctx, g := context.Background(), Git{}
	head := git(t, dir, "rev-parse", "HEAD")
	if root, err := g.Root(ctx, filepath.Join(dir, "kernels")); err != nil || root != dir {
		t.Errorf("root %q %v", root, err)
	}
	if c, err := g.Branch(ctx, dir, "lab/base"); err != nil || c != base {
		t.Errorf("branch %q %v", c, err)
	}
	if _, err := g.Branch(ctx, dir, "none"); !errors.Is(err, ErrMissing) {
		t.Errorf("missing branch: %v", err)
	}
	if _, err := g.Commit(ctx, dir, "-x"); !errors.Is(err, ErrBadName) {
		t.Errorf("option as revision: %v", err)
	}
	for _, c := range []struct {
		a, b string
		want bool
	}{{base, head, true}, {head, base, false}} {
		if got, err := g.IsAncestor(ctx, dir, c.a, c.b); err != nil || got != c.want {
			t.Errorf("ancestor %s %s: %v %v", c.a, c.b, got, err)
		}
	}
	if _, err := g.IsAncestor(ctx, dir, "none", head); err == nil {
		t.Error("ancestry of nothing was decided")
	}
	if d, err := g.Distance(ctx, dir, "lab/base", "HEAD"); err != nil || d != (repo.Distance{Ahead: 2}) {
		t.Errorf("distance %+v %v", d, err)
	}
	if cs, err := g.Commits(ctx, dir, base, head); err != nil || len(cs) != 2 {
		t.Errorf("commits %v %v", cs, err)
	}
	if got, err := g.Ignored(ctx, dir, "a.csv", "a.py"); err != nil || len(got) != 1 || got[0] != "a.csv" {
		t.Errorf("ignored %v %v", got, err)
	}
	if got, err := g.Ignored(ctx, dir, "a.py"); err != nil || got != nil {
		t.Errorf("ignored %v %v", got, err)
	}
	if got, err := g.Tracked(ctx, dir, "judge two.py", "*.py", "none"); err != nil || len(got) != 1 {
		t.Errorf("tracked %v %v", got, err)
	}
	blobs, err := g.BlobsAt(ctx, dir, base, "judge.py", "none", "kernels")
	if err != nil || len(blobs) != 3 || string(blobs[0].Bytes) != "limit = 1e-2\n" || blobs[0].ID != git(t, dir, "rev-parse", base+":judge.py") || !blobs[1].Missing || !blobs[2].Missing {
		t.Errorf("blobs %+v %v", blobs, err)
	}
}

func TestDirtyHash(t *testing.T) {
	dir, _ := sample(t)
	ctx, g := context.Background(), Git{}
	hash := func() string {
		t.Helper()
		h, _, err := g.DirtyHash(ctx, dir)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	write(t, dir, ".humanize/x", "x")
	if h := hash(); h != "" {
		t.Errorf("clean tree hashes to %s", h)
	}
	write(t, dir, "deep/er/x.py", "1")
	one := hash()
	write(t, dir, "deep/er/x.py", "2")
	two := hash()
	write(t, dir, "deep/er/x.py", "1")
	if one == "" || one == two || one != hash() {
		t.Errorf("hash does not follow the bytes: %s %s", one, two)
	}
}

func TestTimeoutKillsTheGroup(t *testing.T) {
	dir := t.TempDir()
	fake := filepath.Join(dir, "git")
	// The fake starts a helper that holds stdout open, as a stuck hook would.
	write(t, dir, "git", "#!/bin/sh\nsleep 300 &\necho $! > "+dir+"/pid\nwait\n")
	if err := os.Chmod(fake, 0o755); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	r := Git{Bin: fake, Timeout: 200 * time.Millisecond}.Snapshot(context.Background(), dir, "")
	if r.State != repo.Failed || !strings.Contains(r.Why, "no answer in time") {
		t.Errorf("%q %q", r.State, r.Why)
	}
	if d := time.Since(start); d > 5*time.Second {
		t.Errorf("took %v", d)
	}
	pid, err := os.ReadFile(filepath.Join(dir, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	for range 200 {
		b, err := os.ReadFile("/proc/" + strings.TrimSpace(string(pid)) + "/stat")
		if err != nil || strings.Contains(string(b), ") Z ") {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Error("the helper of a killed git lives on")
}

func TestOutputIsBounded(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "git", "#!/bin/sh\nexec cat /dev/zero\n")
	if err := os.Chmod(filepath.Join(dir, "git"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := Git{Bin: filepath.Join(dir, "git")}.Root(context.Background(), dir)
	if !errors.Is(err, ErrTooMuch) {
		t.Errorf("endless output: %v", err)
	}
}

func TestWriting(t *testing.T) {
	dir, base := sample(t)
	ctx, g := context.Background(), Git{}
	if err := g.CreateBranch(ctx, dir, "rocm-kda-base/x", base); err != nil {
		t.Fatal(err)
	}
	if err := g.CreateBranch(ctx, dir, "rocm-kda-base/x", "HEAD"); err == nil {
		t.Error("an existing branch was moved")
	}
	wt := filepath.Join(t.TempDir(), "wt")
	if err := g.AddWorktree(ctx, dir, wt, "rlcr/x", base); err != nil {
		t.Fatal(err)
	}
	if err := g.AddWorktree(ctx, dir, wt, "rlcr/y", base); err == nil {
		t.Error("an existing folder was used")
	}
	list, err := g.Worktrees(ctx, dir)
	if err != nil || len(list) != 2 || list[1].Branch != "rlcr/x" || list[1].Head != base {
		t.Errorf("worktrees %+v %v", list, err)
	}
	r := g.Snapshot(ctx, wt, "rocm-kda-base/x")
	if r.Branch != "rlcr/x" || r.GitDir == r.CommonDir || len(WatchFolders(r)) != 3 {
		t.Errorf("linked worktree: %+v", r)
	}
	write(t, wt, "x", "x")
	if err := g.RemoveWorktree(ctx, dir, wt); err == nil {
		t.Error("a dirty worktree was removed")
	}
	if err := os.Remove(filepath.Join(wt, "x")); err != nil {
		t.Fatal(err)
	}
	if err := g.RemoveWorktree(ctx, dir, wt); err != nil {
		t.Error(err)
	}
	demo := t.TempDir()
	write(t, demo, "a.py", "a")
	write(t, demo, ".humanize/x", "x")
	if err := g.Init(ctx, demo, "main", "start"); err != nil {
		t.Fatal(err)
	}
	if r := g.Snapshot(ctx, demo, "main"); !r.Clean() || r.Branch != "main" || r.Unborn {
		t.Errorf("demo repository: %+v", r)
	}
}

func TestParseWorktrees(t *testing.T) {
	id := strings.Repeat("a", 40)
	in := "worktree /lab\x00HEAD " + id + "\x00branch refs/heads/rlcr/\x1b[31mx\x00\x00" +
		"worktree /gone\x00HEAD " + id + "\x00detached\x00locked why\x00prunable gitdir file points nowhere\x00\x00" +
		"worktree /bare\x00bare\x00\x00"
	want := []repo.LinkedWorktree{
		{Path: "/lab", Head: id, Branch: "rlcr/x"}, {Path: "/gone", Head: id, Detached: true, Locked: true, Prunable: true}, {Path: "/bare", Bare: true},
	}
	if d := cmp.Diff(want, parseWorktrees([]byte(in))); d != "" {
		t.Error(d)
	}
}

func TestStamp(t *testing.T) {
	dir, _ := sample(t)
	r := Git{}.Snapshot(context.Background(), dir, "")
	one := Stamp(r)
	if one != Stamp(r) {
		t.Error("stamp moves by itself")
	}
	git(t, dir, "commit", "-q", "--allow-empty", "-m", "x")
	if Stamp(r) == one {
		t.Error("a commit does not show")
	}
	git(t, dir, "pack-refs", "--all")
	two := Stamp(r)
	git(t, dir, "checkout", "-q", "lab/base")
	if Stamp(r) == two {
		t.Error("a checkout does not show")
	}
}

func FuzzParseStatus(f *testing.F) {
	f.Add([]byte("# branch.oid (initial)\x00# branch.head main\x00# branch.ab +1 -2\x001 .M N... 100644 100644 100644 a b x y\x002 R. N... 1 1 1 a b R100 n\x00o\x00u UU N... 1 1 1 1 a b c p\x00? q\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		st, err := parseStatus(b)
		if err == nil && (st.count < len(st.files) || strings.ContainsAny(st.branch+st.upstream, "\x1b\n\x07")) {
			t.Errorf("%+v", st)
		}
		for _, f := range st.files {
			if strings.ContainsAny(f.Path+f.From, "\x1b\n\x07") || f.Change == "" {
				t.Errorf("%+v", f)
			}
		}
	})
}

func FuzzParseOthers(f *testing.F) {
	f.Add([]byte(">\t0123456789012345678901234567890123456789\t1700000000\ts\x001\t2\tp\x00-\t-\t\x00a\x00b\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		_, behind, _ := parseLog(b)
		d, _ := parseNumstat(b)
		if behind < 0 || d.Added < 0 && d.FileCount == 0 {
			t.Error("negative count")
		}
		_ = parseWorktrees(b)
		if blobs, err := parseBatch(b, []string{"a", "b"}); err == nil && len(blobs) != 2 {
			t.Errorf("%d blobs", len(blobs))
		}
	})
}

func BenchmarkSnapshot(b *testing.B) {
	dir, err := os.Getwd()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if r := (Git{}).Snapshot(context.Background(), dir, ""); r.State != repo.Worktree {
			b.Skipf("not in a repository: %s", r.Why)
		}
	}
}
