-- Variants of the ring kernel for tests whose thread blocks share k and copy their part of B whole: small rings.
op, arch, lhs, rhs, out, vec = "spmm", "sm_90", "s8", "s8", "s32", 8
staging = "async"
resident = {"always", "on"}
tile_n  = {64, 32}
warps   = {8, 22, 1, 20}
window  = {64, 256}
stages  = {2, 6}
parts   = {4, 2}
depth   = {3, 2, 4}
overlap = {"off", "on"}
prefetch_l2 = {"off", "on"}
