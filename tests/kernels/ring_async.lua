-- Variants of the ring kernel that copies by cp.async for tests: small rings.
op, arch, lhs, rhs, out, vec = "spmm", "sm_80", "s8", "s8", "s32", 8
staging = "async"
tile_n  = {128, 64, 32}
warps   = {4, 1, 16}
split   = {1, 2}
window  = {64, 256}
stages  = {3, 2}
resident = {"off", "on"}
