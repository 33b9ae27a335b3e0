-- Strides without heads, whose values an execution brings: sums of floats in their order.
op, lhs, rhs, out, scale, vec = "spmm", "f16", "f16", "f32", "none", 8
heads    = "off"
stride   = 32
tile_n   = {64, 32}
warps    = {4, 1, 8}
split    = {4, 1, 8}
prefetch = {"on", "off"}
