-- Activations in f16, row-major [tokens, features], become B of an SpMM: s8, [features, tokens]. One scale for all of them is computed: a first launch finds how far they reach, a second one quantises.
-- A list is a set of candidates to tune over; the first of each makes the default kernel.

op     = "quantise"
lhs    = "f16"                      -- A: activations; also bf16, f32
out    = "s8"                       -- C; also u8, s4, u4
scale  = "tensor"                   -- an f32 for all of A
zero   = "none"                     -- "tensor": a zero point, too
scales = "computed"                 -- "given": the scale is read, not written
layout = "columns"                  -- C lies by columns: A's transpose; "rows": as A

tile  = {64, 32, 128}               -- tokens a thread block
warps = {4, 8, 2}                   -- warps of a thread block
hold  = {1, 2, 4}                   -- steps of columns that a thread block takes

-- m, n, lda, ldc stay open. To fix them: mcgen --set m=4096 --set n=4096 ...
