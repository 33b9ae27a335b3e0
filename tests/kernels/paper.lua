-- The paper's operand order with rows of B that go straight to registers.
op  = "spmm"
lhs = "s8"
rhs = "s8"
vec = 8

order    = "paper"
prefetch = {"on", "off"}
tile_n   = {128, 64, 32}
stride   = {32, 64}
warps    = {4, 1, 2, 8}
split    = {4, 1, 2}
