package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"kdapilot/engine/text"
	"kdapilot/probes/readfile"
)

const (
	issueLimit   = 1 << 20 // bytes of an issue
	issueTimeout = 30 * time.Second
)

// issueText is the snapshot of an issue.
type issueText struct {
	// raw are the bytes that are stored; nil when no issue was given.
	raw []byte
	// title is one line or ""; source says where and when it was taken, with its
	// hash.
	title, source string
}

// quoted is the text for the draft: a quotation, so that its headings and
// instructions are not taken for the contract's own.
func (i issueText) quoted() string {
	if len(i.raw) == 0 {
		return "No issue text was given."
	}
	var b strings.Builder
	for line := range strings.Lines(strings.TrimSpace(text.Clean(string(i.raw)))) {
		b.WriteString(strings.TrimRight("> "+strings.TrimRight(line, "\n"), " ") + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

// readIssue takes the snapshot from a file, standard input or gh.
func readIssue(ctx context.Context, s streams, f newFlags) (issueText, error) {
	var raw []byte
	var from string
	var err error
	switch {
	case f.issue != "":
		raw, from, err = issueFromGH(ctx, f.host, f.issue)
	case f.issueFile == "-":
		from = "standard input"
		raw, err = io.ReadAll(io.LimitReader(s.in, issueLimit+1))
		if err == nil && len(raw) > issueLimit {
			err = fmt.Errorf("more than %d bytes", issueLimit)
		}
	case f.issueFile != "":
		from = f.issueFile
		if abs, absErr := filepath.Abs(f.issueFile); absErr == nil {
			from = abs
		}
		raw, _, err = readfile.All(f.issueFile, issueLimit)
	default:
		return issueText{source: "none"}, nil
	}
	if err != nil {
		var x *exitError
		if errors.As(err, &x) {
			return issueText{}, err
		}
		return issueText{}, exitWith(exitNothing, "issue text from %s: %w", from, err)
	}
	if strings.TrimSpace(text.Clean(string(raw))) == "" {
		return issueText{}, exitWith(exitNothing, "issue text from %s: it is empty", from)
	}
	sum := sha256.Sum256(raw)
	return issueText{
		raw: raw, title: titleOf(string(raw)),
		source: text.Line(fmt.Sprintf("%s, taken %s, sha256 %s", from, time.Now().UTC().Format("2006-01-02 15:04 UTC"), hex.EncodeToString(sum[:]))),
	}, nil
}

// titleOf is the first line that says something, without heading marks.
func titleOf(s string) string {
	for line := range strings.Lines(text.Clean(s)) {
		if t := strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(line), "#")); t != "" {
			return text.Clip(text.Line(t), 160)
		}
	}
	return ""
}

var issueForm = regexp.MustCompile(`^([0-9]+|https://[A-Za-z0-9./_-]+/issues/[0-9]+)$`)

// issueFromGH asks GitHub's own tool, which knows the user's login. It runs in
// the host checkout, so that a bare number means an issue of its repository.
func issueFromGH(ctx context.Context, dir, ref string) ([]byte, string, error) {
	if !issueForm.MatchString(ref) {
		return nil, "", exitWith(exitUsage, "--issue %s: expected a number or the URL of an issue", text.Line(ref))
	}
	if _, err := exec.LookPath("gh"); err != nil {
		return nil, "", exitWith(exitNoTool, "--issue needs gh on PATH; without it save the text and give --issue-file")
	}
	ctx, cancel := context.WithTimeout(ctx, issueTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "gh", "issue", "view", ref, "--json", "number,title,body,url")
	var out, errs bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = dir, &out, &errs, time.Second
	if err := cmd.Run(); err != nil {
		first, _, _ := strings.Cut(strings.TrimSpace(errs.String()), "\n")
		return nil, "", exitWith(exitNoTool, "gh issue view %s: %w: %s", ref, err, text.Clip(text.Line(first), 300))
	}
	var got struct {
		Title, Body, URL string
	}
	if out.Len() > issueLimit {
		return nil, "", exitWith(exitNothing, "gh issue view %s: more than %d bytes", ref, issueLimit)
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil || got.Title == "" {
		return nil, "", exitWith(exitNothing, "gh issue view %s: expected JSON with a title, got %q", ref, text.Clip(text.Line(out.String()), 120))
	}
	return []byte("# " + got.Title + "\n\n" + got.Body + "\n"), firstNonEmpty(got.URL, ref), nil
}
