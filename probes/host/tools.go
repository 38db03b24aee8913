package host

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"kdapilot/engine/preflight"
	"kdapilot/engine/text"
	"kdapilot/probes/readfile"
)

// SkillsDir is where Claude Code looks for skills: $CLAUDE_SKILLS_DIR, else
// skills below Claude's configuration folder.
func SkillsDir(environ []string) string {
	env := envMap(environ)
	if d := env["CLAUDE_SKILLS_DIR"]; d != "" {
		return d
	}
	return filepath.Join(claudeDir(env), "skills")
}

func claudeDir(env map[string]string) string {
	if d := env["CLAUDE_CONFIG_DIR"]; d != "" {
		return d
	}
	return filepath.Join(env["HOME"], ".claude")
}

func (c *checker) readSkills() preflight.SkillFacts {
	f := preflight.SkillFacts{Dir: SkillsDir(c.Env), NoFlyprof: !c.flydsl(), OnPath: lookPath(c.runenv().env, "flyprof")}
	for _, name := range preflight.SkillNames() {
		if isFile(filepath.Join(f.Dir, name, "SKILL.md")) {
			f.Have = append(f.Have, name)
		} else {
			f.Missing = append(f.Missing, name)
		}
	}
	return f
}

// rocm is the ROCm folder.
func (c *checker) rocm() string {
	if d := c.env["ROCM_PATH"]; d != "" {
		return d
	}
	return c.etc("opt/rocm")
}

// etc is a path of the host, below Options.Etc in tests.
func (c *checker) etc(path string) string { return filepath.Join("/", c.Etc, path) }

func (c *checker) readProfiler() preflight.ProfilerFacts {
	env := c.runenv().env
	f := preflight.ProfilerFacts{ROCProf: lookPath(env, "rocprofv3"), ROCm: c.rocmVersion()}
	if own := filepath.Join(c.rocm(), "bin", "rocprofv3"); f.ROCProf == "" && executable(own) {
		f.ROCProf = own
	}
	dirs := append(filepath.SplitList(env["ROCPROF_ATT_LIBRARY_PATH"]), filepath.Join(c.rocm(), "lib"), filepath.Join(c.rocm(), "lib64"))
	for _, dir := range append(dirs, filepath.SplitList(env["LD_LIBRARY_PATH"])...) {
		if dir == "" || f.Decoder != "" {
			continue
		}
		f.Looked = append(f.Looked, "looked in "+dir)
		if found, err := filepath.Glob(filepath.Join(dir, "librocprof-trace-decoder.so*")); err == nil && len(found) > 0 {
			f.Decoder = found[0]
		}
	}
	if f.ROCProf == "" {
		return f
	}
	a := ask(c.ctx, askTimeout, c.Root, env, f.ROCProf, "--help")
	if a.exit != nil && *a.exit == 0 {
		att := strings.Contains(a.out+a.errs, "--att")
		f.ATT = &att
	}
	return f
}

func (c *checker) rocmVersion() string {
	return firstLine(filepath.Join(c.rocm(), ".info", "version"))
}

func firstLine(path string) string {
	b, _, err := readfile.All(path, 64<<10)
	if err != nil {
		return ""
	}
	s, _, _ := strings.Cut(string(b), "\n")
	return text.Clip(text.Line(s), 120)
}

func (c *checker) readCommands() preflight.CommandFacts {
	f := preflight.CommandFacts{Need: map[string]string{}, Wish: map[string]string{}}
	for _, name := range []string{"claude", "codex", "jq", "git", "python3"} {
		f.Need[name] = lookPath(c.env, name)
	}
	f.Wish["gh"] = lookPath(c.env, "gh")
	return f
}

// readHumanize finds the plugin as Claude Code installed it: by its list of
// installed plugins, else by looking into its plugin folders.
func (c *checker) readHumanize() preflight.HumanizeFacts {
	dir := filepath.Join(claudeDir(c.env), "plugins")
	f := preflight.HumanizeFacts{}
	for _, p := range append(installed(filepath.Join(dir, "installed_plugins.json")), pluginFolders(dir)...) {
		b, _, err := readfile.All(filepath.Join(p, ".claude-plugin", "plugin.json"), 1<<20)
		if err != nil {
			continue
		}
		var meta struct{ Name, Version string }
		if err := json.Unmarshal(b, &meta); err != nil || meta.Name != "humanize" {
			continue
		}
		f.Path, f.Version = p, text.Clip(text.Line(meta.Version), 40)
		return f
	}
	f.Looked = []string{"looked in " + dir}
	return f
}

// installed gives the folders of plugins named humanize in installed_plugins.json.
// Version 1 of that file has one object per plugin, version 2 a list of them.
func installed(path string) []string {
	b, _, err := readfile.All(path, 4<<20)
	if err != nil {
		return nil
	}
	var file struct {
		Plugins map[string]json.RawMessage `json:"plugins"`
	}
	if json.Unmarshal(b, &file) != nil {
		return nil
	}
	type entry struct {
		InstallPath string `json:"installPath"`
	}
	var out []string
	for name, raw := range file.Plugins {
		if name != "humanize" && !strings.HasPrefix(name, "humanize@") {
			continue
		}
		var list []entry
		if json.Unmarshal(raw, &list) != nil {
			var one entry
			if json.Unmarshal(raw, &one) != nil {
				continue
			}
			list = []entry{one}
		}
		for _, e := range list {
			if filepath.IsAbs(e.InstallPath) {
				out = append(out, e.InstallPath)
			}
		}
	}
	slices.Sort(out)
	return out
}

// pluginFolders are the places plugins lie in, newest version first.
func pluginFolders(dir string) []string {
	var out []string
	for _, pattern := range []string{"cache/*/humanize/*", "cache/*/humanize", "marketplaces/*/plugins/humanize", "marketplaces/*", "humanize"} {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			continue
		}
		slices.SortFunc(found, func(a, b string) int { return strings.Compare(b, a) })
		out = append(out, found[:min(len(found), 50)]...)
	}
	return out
}

// fingerprint is the environment as it is now.
func (c *checker) fingerprint() preflight.Fingerprint {
	f := preflight.Fingerprint{Boot: firstLine(c.etc("proc/sys/kernel/random/boot_id")), ROCm: c.rocmVersion(), GPUs: []string{}}
	f.Host = firstLine(c.etc("proc/sys/kernel/hostname"))
	if f.Host == "" {
		f.Host, _ = os.Hostname()
	}
	f.Head = c.tree().Repo.Head
	f.Humanize = c.readHumanize().Version
	if b := c.build(); !b.stamp.IsZero() {
		f.Build = fmt.Sprintf("%s %d bytes %s", b.stampPath, b.size, b.stamp.UTC().Format("2006-01-02T15:04:05.000Z"))
	}
	for _, g := range c.gpus().gpus {
		f.GPUs = append(f.GPUs, strings.TrimSpace(g.Arch+" "+g.ID))
	}
	return f
}
