-- Variants of the ring kernel that copies by cp.async, of floats of 8 bits: small rings.
op, arch, lhs, rhs, out, scale, vec = "spmm", "sm_89", "e4m3", "e4m3", "f32", "none", 8
staging = "async"
tile_n  = {128, 64, 32}
warps   = {4, 1, 16, 8}
split   = {1, 2}
window  = {64, 256}
stages  = {3, 2}
resident = {"off", "on"}
