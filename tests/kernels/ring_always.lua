-- Variants of the ring kernel that has all of B in any case, with rows of 32 bytes and more, for tests: small rings.
op, arch, lhs, rhs, out, vec = "spmm", "sm_80", "s8", "s8", "s32", 8
staging = "async"
tile_n  = {64, 32}
warps   = {4, 8, 2}
split   = {2, 1, 4}
window  = {256, 64}
stages  = {4, 2}
resident = "always"
depth   = {2, 4}
