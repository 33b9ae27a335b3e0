-- Variants of the SDDMM for tests: where panels of A are kept, and when they come. k is open: with a single panel there is none ahead.
op, arch, lhs, rhs, out, vec = "sddmm", "sm_80", "s8", "s8", "s32", 8
lhs_in       = {"shared", "registers"}
prefetch_lhs = {"on", "off"}
groups       = {2, 1, 4}
warps        = {2, 1, 8}
tile_k       = {64, 128}
prefetch     = {"on", "off"}
reads        = {"chunks", "lines"}
