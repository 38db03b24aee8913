package stall

// Registers is what the instruction texts say about register use.
type Registers struct {
	// Arch and Accum are the profiler's counts: highest first index + 1.
	Arch  int `json:"arch_vgpr"`
	Accum int `json:"accum_vgpr"`
	// ArchLast and AccumLast count to the last index of each register range.
	ArchLast  int `json:"arch_vgpr_last"`
	AccumLast int `json:"accum_vgpr_last"`
	// Estimate is the profiler's waves per CU from Arch and Accum.
	Estimate int `json:"flyprof_waves_per_cu"`
	// Bound is the waves per CU that 512 combined registers allow.
	Bound int `json:"register_bound_waves_per_cu"`
}
