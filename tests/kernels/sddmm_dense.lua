-- Variants of the SDDMM's dense tiles for tests: every tile, with every split of its warps that fits into registers.
op, arch, lhs, rhs, out, vec = "sddmm", "sm_90", "s8", "s8", "s32", 8
method    = "dense"
warps     = {4, 1, 2, 8}
tile_n    = {64, 32, 128}
tile_rows = {64, 32, 128}
overlap   = {"off", "on"}
k         = 256
