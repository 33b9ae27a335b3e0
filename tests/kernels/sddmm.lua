-- Variants of the SDDMM for tests: several panels of k, several windows of columns.
op, arch, lhs, rhs, out, vec = "sddmm", "sm_90", "s8", "s8", "s32", 8
groups   = {4, 1, 2, 8}
warps    = {4, 1, 8}
tile_k   = {256, 64, 32, 128, 512}
window   = {"open", 64, 20}
prefetch = {"on", "off"}
overlap  = {"off", "on"}
