package session

// Task is what the worktree's task.toml says.
type Task struct {
	Name string `json:"slug,omitempty"`
}

// Slug is the task's short name, "" when unknown.
func (t Task) Slug() string { return t.Name }

// Plan is the plan under review.
type Plan struct{}

// Gates are the two gates as they stand.
type Gates struct{}
