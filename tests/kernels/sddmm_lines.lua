-- Variants of the SDDMM that read lines, for tests: one panel of k and several. By rows there are only chunks.
op, arch, lhs, rhs, out, vec = "sddmm", "sm_90", "s8", "s8", "s32", 8
reads    = {"lines", "chunks"}
groups   = {4, 1, 2}
warps    = {4, 1}
tile_k   = {256, 128, 512}
prefetch = {"on", "off"}
