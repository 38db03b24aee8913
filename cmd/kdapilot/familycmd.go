package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"kdapilot/cmd/kdapilot/families"
	"kdapilot/engine/family"
	"kdapilot/engine/text"
	"kdapilot/probes/readfile"
)

// newFamily builds `kdapilot family list|show|lint`.
func newFamily(s streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "family",
		Short: "Kernel families: harness, cells, gates, commands and contract of each",
		Long: `A family says which harness judges a kernel, which cells and gates count and
which commands are run. Families ship with the program; a folder of the same name in
$XDG_CONFIG_HOME/kdapilot/families goes before the shipped one.`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			return exitWith(exitUsage, "family: expected list, show NAME or lint [NAME|FILE]")
		},
	}
	cmd.AddCommand(newFamilyList(s), newFamilyShow(s), newFamilyLint(s))
	return cmd
}

func newFamilyList(s streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Short: "All families", Args: usageArgs(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			var all []family.Family
			p := printer{w: s.out}
			for _, name := range families.Names() {
				f, err := families.Load(name)
				if err != nil {
					return exitWith(exitConfig, "%w", err)
				}
				all = append(all, f)
			}
			if asJSON {
				return writeJSON(s.out, map[string]any{"families": all})
			}
			for _, f := range all {
				p.line("%-16s %-24s %s", f.Name, strings.Join(f.Archs, " "), f.Title)
			}
			return p.err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func newFamilyShow(s streams) *cobra.Command {
	var asJSON, contract bool
	cmd := &cobra.Command{
		Use: "show NAME", Short: "One family, or its contract template", Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			f, err := families.Load(args[0])
			if err != nil {
				return exitWith(familyExit(err), "%w", err)
			}
			switch {
			case contract:
				c, err := families.Contract(args[0])
				if err == nil {
					_, err = io.WriteString(s.out, c)
				}
				return err
			case asJSON:
				return writeJSON(s.out, f)
			}
			return printFamily(s.out, f)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&contract, "contract", false, "print the contract template")
	return cmd
}

func printFamily(w io.Writer, f family.Family) error {
	p := printer{w: w}
	p.line("%s: %s", f.Name, f.Title)
	p.line("%s", f.Summary)
	p.line("arch     %s   dtypes %s", strings.Join(f.Archs, " "), strings.Join(f.Dtypes, " "))
	p.line("harness  %s (%s)", f.Harness.Path, f.Harness.Parser)
	if f.Profile.Evidence == family.EvidenceFlyprof {
		p.line("profile  flyprof, kernel %s", orDash(f.Profile.Kernel))
	} else {
		p.line("profile  %s", f.Profile.Evidence)
	}
	for _, v := range f.Variants {
		cells, err := f.Expand(v.Name)
		if err != nil {
			return fmt.Errorf("family %s, variant %s: %w", f.Name, v.Name, err)
		}
		p.line("cells    %d in variant %s, %d extra rows", len(cells), v.Name, v.ExtraRows)
	}
	for _, g := range f.Gates {
		p.line("gate     %s %s %g   %s", g.Metric, g.Op, g.Limit, strings.Join(g.Dtypes, " "))
	}
	for _, e := range f.Surface.Edit {
		p.line("edit     %s", e)
	}
	for _, j := range f.Judges {
		p.line("judge    %s (%s)", j.Path, j.Role)
	}
	for _, x := range f.Presets {
		p.line("preset   %-16s %s", x.Name, x.Title)
	}
	p.line("bar      %s", f.Bar.Text)
	return p.err
}

type lintJSON struct {
	Family   string           `json:"family"`
	Problems []family.Problem `json:"problems"`
	Error    string           `json:"error,omitempty"`
}

func newFamilyLint(s streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "lint [NAME|FILE]...", Short: "Check families: all shipped ones, or those named", Args: usageArgs(cobra.ArbitraryArgs),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = families.Names()
			}
			var all []lintJSON
			bad := false
			for _, a := range args {
				l := lintOne(a)
				bad = bad || l.Error != ""
				all = append(all, l)
			}
			p := printer{w: s.out}
			if asJSON {
				p.err = writeJSON(s.out, map[string]any{"families": all})
			} else {
				printLint(&p, all)
			}
			if p.err != nil {
				return p.err
			}
			if bad {
				return exitQuietly(exitConfig)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func lintOne(arg string) lintJSON {
	l := lintJSON{Family: arg, Problems: []family.Problem{}}
	b, err := families.TOML(arg)
	name := arg
	if strings.ContainsRune(arg, '/') || strings.HasSuffix(arg, ".toml") {
		name = filepath.Base(filepath.Dir(arg))
		b, _, err = readfile.All(arg, family.MaxSize)
	}
	if err == nil {
		var f family.Family
		if f, err = family.Parse(name, b); err == nil {
			l.Problems = append(l.Problems, family.Lint(f)...)
		}
	}
	if err != nil {
		l.Error = text.Clean(err.Error())
	}
	return l
}

func printLint(p *printer, all []lintJSON) {
	for _, l := range all {
		switch {
		case l.Error != "":
			p.line("%s: not usable", l.Family)
			for e := range strings.SplitSeq(l.Error, "\n") {
				p.line("  %s", e)
			}
		case len(l.Problems) == 0:
			p.line("%s: ok", l.Family)
		default:
			p.line("%s: usable, %d remarks", l.Family, len(l.Problems))
			for _, x := range l.Problems {
				p.line("  %s", x.Text)
			}
		}
	}
}

// familyExit tells a family that is not there from one that is broken.
func familyExit(err error) int {
	var bad *family.Error
	if errors.As(err, &bad) {
		return exitConfig
	}
	return exitNothing
}
