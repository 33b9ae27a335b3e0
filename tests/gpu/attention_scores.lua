-- For attention.c: SDDMM by gather. Types, order and scale are the problem's.
op, lhs, rhs, out, scale, vec, order = "sddmm", "s8", "s8", "f16", "tensor", 8, "srbcrs32"
tile_k   = 128
groups   = {4, 2}
warps    = {4, 2, 8}
reads    = {"chunks", "lines"}
prefetch = {"on", "off"}
run      = {4, 1}
turn     = {1, 8}
