-- For attention.c: SDDMM with windows of K in shared memory, of integers; a column is 64 bytes.
op, method, lhs, rhs, out, scale, vec, order = "sddmm", "window", "s8", "s8", "f16", "tensor", 8, "srbcrs32"
k, tile_k, staging = 64, 64, "async"
window   = {2048, 1024, 512, 3456}
warps    = {24, 16, 12}
groups   = {4, 2}
prefetch = {"on", "off"}
