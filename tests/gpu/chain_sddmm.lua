-- For chain.c: an SDDMM that may start while the kernel before it still runs.
op, arch, lhs, rhs, out, vec = "sddmm", "sm_90", "s8", "s8", "s32", 8
groups  = 2
warps   = 2
overlap = true
