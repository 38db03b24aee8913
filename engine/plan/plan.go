// Package plan is the room for what a plan says and where: its headings,
// criteria, tasks, decisions, comments and left-overs, each with the source line
// it stands on, and what a reviewer of gate 1 has to ask about it.
//
// Guarantees: parsing never fails and never panics; what does not fit the
// gen-plan shape is kept as headings and text. Every text in a Doc is stripped of
// control sequences and bounded. Line numbers are 1-based lines of the bytes that
// were given to Parse.
//
// What may not enter: files (the bytes are handed in), git, layout, and the
// decision itself (engine/gate).
package plan

// Limits of what is kept. A plan over a limit is parsed up to it and says so in
// Doc.Notes.
const (
	MaxBytes = 4 << 20
	MaxItems = 2000 // of each kind
	maxText  = 600  // bytes of one quoted text
)

// Doc is a parsed plan.
type Doc struct {
	// Title is the first level 1 heading.
	Title string `json:"title"`
	// Lines counts the lines of the file, the last one also without a newline.
	Lines int `json:"lines"`
	// Setup counts the lines as Humanize's setup does.
	Setup Counts `json:"setup_counts"`
	// Sections are all headings in document order, of the plan and then of the
	// draft appendix. Text before the first heading is a section of level 0.
	Sections  []Section   `json:"sections"`
	Criteria  []Criterion `json:"criteria"`
	Tasks     []Task      `json:"tasks"`
	Decisions []Decision  `json:"decisions"`
	// Convergence is the Final Status line; Line 0 when there is none.
	Convergence Convergence `json:"convergence"`
	Draft       Appendix    `json:"draft_appendix"`
	// Comments are the reviewer's CMT markers; CommentErrors what is wrong with
	// their form.
	Comments      []Comment      `json:"comments"`
	CommentErrors []CommentError `json:"comment_errors"`
	// Placeholders are unresolved {{…}}, BranchSwitches texts that tell an agent
	// to change the branch.
	Placeholders   []Hit  `json:"placeholders"`
	BranchSwitches []Hit  `json:"branch_switches"`
	Contract       []Term `json:"contract"`
	// Notes say what was cut or could not be understood.
	Notes []Hit `json:"notes"`

	lines []line
}

// Counts are the two numbers Humanize's setup looks at.
type Counts struct {
	// Lines counts newline characters. Content counts lines that are neither
	// blank nor begin with # nor lie in an HTML comment.
	Lines   int `json:"lines"`
	Content int `json:"content"`
}

// Section is a heading with the text under it.
type Section struct {
	// ID is the heading as a slug, unique in the document.
	ID string `json:"id"`
	// Level is 1 to 6; 0 for text before the first heading. The draft appendix
	// itself is a section of level 2.
	Level int    `json:"level"`
	Title string `json:"title"`
	// Parent is the ID of the heading above it in the tree, "" at the top.
	Parent string `json:"parent,omitempty"`
	// Line is that of the heading, End the last line before the next heading of
	// any level, Through the last line of all its subsections.
	Line    int `json:"line"`
	End     int `json:"end"`
	Through int `json:"through"`
	// InDraft marks headings of the appended draft: they are no plan sections.
	InDraft bool `json:"in_draft,omitempty"`
}

// Criterion is an acceptance criterion or a part of one.
type Criterion struct {
	// ID is like "AC-1" or "AC-1.1", Parent "AC-1" for the latter.
	ID     string `json:"id"`
	Parent string `json:"parent,omitempty"`
	Text   string `json:"text"`
	Line   int    `json:"line"`
	// End is the last line of it, without its sub-criteria.
	End      int    `json:"end"`
	Positive []Test `json:"positive"`
	Negative []Test `json:"negative"`
}

// Test is one line under Positive Tests or Negative Tests.
type Test struct {
	Text string `json:"text"`
	Line int    `json:"line"`
}

// Task is one row of the task table.
type Task struct {
	ID   string `json:"id"`
	Text string `json:"text"`
	Line int    `json:"line"`
	// Targets and Depends are ids as written, split at commas and blanks; a lone
	// dash is none.
	Targets []string `json:"targets"`
	// Tag is "coding" or "analyze", or whatever stands there.
	Tag     string   `json:"tag"`
	Depends []string `json:"depends"`
}

// Decision is a DEC entry.
type Decision struct {
	ID    string `json:"id"`
	Topic string `json:"topic"`
	Line  int    `json:"line"`
	End   int    `json:"end"`
	// Claude and Codex are the two positions.
	Claude   string `json:"claude_position"`
	Codex    string `json:"codex_position"`
	Tradeoff string `json:"tradeoff"`
	// Status is the decision itself, or PENDING; StatusLine is 0 when no status
	// stands there.
	Status     string `json:"status"`
	StatusLine int    `json:"status_line"`
	// Pending is true while nobody decided: the status says PENDING or is missing.
	Pending bool `json:"pending"`
}

// Convergence is what the two agents agreed on having reached.
type Convergence struct {
	// Status is "converged", "partially_converged", or whatever stands there.
	Status string `json:"status"`
	Line   int    `json:"line"`
}

// Appendix is the original draft at the end of the plan.
type Appendix struct {
	// Start and End are the marker lines; 0 when missing.
	Start int `json:"start"`
	End   int `json:"end"`
}

// Comment is one reviewer's comment that refine-plan would act on.
type Comment struct {
	// Form is "CMT:", "<cmt>" or "<comment>".
	Form    string `json:"form"`
	Text    string `json:"text"`
	Line    int    `json:"line"`
	Column  int    `json:"column"` // 1-based, in characters
	EndLine int    `json:"end_line"`
	Heading string `json:"heading"`
}

// CommentError is a comment marker in the wrong place.
type CommentError struct {
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Heading string `json:"heading"`
	What    string `json:"what"`
}

// Hit is a place in the text.
type Hit struct {
	Line   int    `json:"line"`
	Column int    `json:"column,omitempty"`
	Text   string `json:"text"`
	// Sure is false where the text may mean something else, for example inside
	// a code block or after a "never".
	Sure bool `json:"sure"`
}

// Term is a K:, R: or W: line of the kernel contract.
type Term struct {
	Letter string `json:"letter"`
	Text   string `json:"text"`
	Line   int    `json:"line"`
	// InDraft is true where it stands in the appended draft only.
	InDraft bool `json:"in_draft,omitempty"`
}

// Own returns the sections of the plan itself, without those of the draft.
func (d *Doc) Own() []Section {
	var out []Section
	for _, s := range d.Sections {
		if !s.InDraft {
			out = append(out, s)
		}
	}
	return out
}

// Find returns the first section of the plan itself with that title, or nil.
func (d *Doc) Find(title string) *Section {
	for i := range d.Sections {
		if s := &d.Sections[i]; !s.InDraft && s.Title == title {
			return s
		}
	}
	return nil
}

// HeadingAt is the title of the section a line belongs to, "" above the first.
func (d *Doc) HeadingAt(n int) string {
	title := ""
	for _, s := range d.Sections {
		if s.Line > n {
			break
		}
		title = s.Title
	}
	return title
}
