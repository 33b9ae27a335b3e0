-- Variants of the ring kernel with rows of 16 bytes for tests: small rings.
op, arch, lhs, rhs, out, vec = "spmm", "sm_80", "s8", "s8", "s32", 8
staging = "async"
tile_n  = 16
warps   = {4, 8, 1}
split   = {2, 1, 4, 8}
window  = {512, 256, 64}
stages  = {4, 2, 14}
resident = {"always", "off"}
