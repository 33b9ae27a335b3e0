-- For chain.c: an SpMM that may start while the SDDMM that writes its values still runs.
op, arch, lhs, rhs, out, vec = "spmm", "sm_90", "s8", "s8", "s32", 8
stride   = 32
tile_n   = 64
warps    = 4
split    = 4
prefetch = true
overlap  = true
