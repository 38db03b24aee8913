package plan

type line struct{}
