-- For attention.c: SDDMM with windows of K in shared memory, of floats; a column is 128 bytes.
op, method, lhs, rhs, out, vec, order = "sddmm", "window", "f16", "f16", "f16", 8, "srbcrs32"
k, tile_k, staging = 64, 64, "async"
window     = {1024, 512, 1536, 384}
warps      = {16, 24, 12}
groups     = {8, 4, 2}
interleave = {2, 1}
prefetch   = "off"
