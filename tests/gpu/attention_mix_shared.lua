-- For attention.c: the same with V's rows through shared memory, of integers.
op, lhs, rhs, out, scale, vec, heads, stride = "spmm", "u8", "s8", "f16", "tensor", 8, "off", 32
staging  = "shared"
tile_n   = {64, 32}
warps    = {4, 8, 2, 1}
split    = {4, 2, 1, 8}
prefetch = {"on", "off"}
