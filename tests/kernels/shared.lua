-- Every control of rows that go through shared memory.
op  = "spmm"
lhs = "s8"
rhs = "s8"
vec = 8

staging  = "shared"
padding  = {"on", "off"}
order    = {"swapped", "paper"}
prefetch = {"on", "off"}
tile_n   = {128, 64, 32}
stride   = {32, 64}
warps    = {4, 1, 2, 8}
split    = {4, 1, 2}
