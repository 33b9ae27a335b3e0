-- Variants of the ring kernel for tests: small rings.
op, arch, lhs, rhs, out, vec = "spmm", "sm_90", "s8", "s8", "s32", 8
staging = "tma"
tile_n  = {128, 64, 32, 256}
warps   = {4, 1, 16}
window  = {64, 256}
split   = {1, 2, 4}
stages  = {2, 3, 6}
resident = {"off", "on"}
overlap = {"off", "on"}
