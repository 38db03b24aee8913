package stall

import (
	"strconv"
	"strings"
)

// SourceFile is one source of the line table: its traced path and its lines,
// cleaned.
type SourceFile struct {
	Path  string
	Lines []string
}

// around is how many lines a snippet shows before and after the hot one.
const around = 2

// SplitSource splits a row's source at the last colon. Of an inline chain
// ("a.py:3 -> b.py:9") the line of the last part counts, and the path is what
// stands before it.
func SplitSource(source string) (path string, line int, ok bool) {
	i := strings.LastIndexByte(source, ':')
	if i < 0 {
		return "", 0, false
	}
	line, err := strconv.Atoi(source[i+1:])
	return source[:i], line, err == nil
}

// FindSnippet looks up the lines around a row's source: the file with exactly
// that path, else the first whose path ends in it or it ends in.
func FindSnippet(source string, files []SourceFile) (Snippet, bool) {
	path, line, ok := SplitSource(source)
	if !ok || path == "" {
		return Snippet{}, false
	}
	f := findFile(path, files)
	if f == nil || line < 1 || line > len(f.Lines) {
		return Snippet{}, false
	}
	s := Snippet{File: f.Path, Line: line}
	for n := max(1, line-around); n <= min(len(f.Lines), line+around); n++ {
		s.Lines = append(s.Lines, SnippetLine{N: n, Text: f.Lines[n-1], Hot: n == line})
	}
	return s, true
}

func findFile(path string, files []SourceFile) *SourceFile {
	for i := range files {
		if files[i].Path == path {
			return &files[i]
		}
	}
	for i := range files {
		if strings.Trim(files[i].Path, "/") == "" {
			continue
		}
		if strings.HasSuffix(files[i].Path, path) || strings.HasSuffix(path, strings.TrimPrefix(files[i].Path, "/")) {
			return &files[i]
		}
	}
	return nil
}
