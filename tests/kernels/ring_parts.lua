-- Variants of the ring kernel for tests whose thread blocks share the windows of k: small rings.
op, arch, lhs, rhs, out, vec = "spmm", "sm_90", "s8", "s8", "s32", 8
staging = "tma"
tile_n  = {64, 32, 128}
warps   = {8, 16}
window  = {64, 256}
stages  = {2, 3, 6}
parts   = {4, 2, 8}
overlap = {"off", "on"}
