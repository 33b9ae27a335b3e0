-- Variants of the SDDMM's method window for tests: windows of which small problems have several, and more columns than a round copies.
op, arch, lhs, rhs, out, vec = "sddmm", "sm_90", "s8", "s8", "s32", 8
method   = "window"
k        = 128                  -- the sweeps set others
tile_k   = 512
groups   = {4, 1, 2}
warps    = {4, 1, 12}
window   = {64, 20, 7}
prefetch = {"on", "off"}
overlap  = {"off", "on"}
