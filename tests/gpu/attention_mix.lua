-- For attention.c: SpMM of the softmax's output and V.
op, lhs, rhs, out, scale, vec, heads, stride = "spmm", "u8", "s8", "f16", "tensor", 8, "off", 32
tile_n   = {64, 32}
warps    = {4, 8, 2, 1}
split    = {4, 2, 1, 8}
prefetch = {"on", "off"}
