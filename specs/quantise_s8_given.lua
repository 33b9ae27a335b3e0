-- Activations in f16, row-major [tokens, features], become B of an SpMM: s8, [features, tokens], by a given scale for each token.
-- A list is a set of candidates to tune over; the first of each makes the default kernel.

op     = "quantise"
lhs    = "f16"                      -- A: activations; also bf16, f32
out    = "s8"                       -- C; also u8, s4, u4
scale  = "row"                      -- an f32 for each row of A, a token; "tensor": one for all
scales = "given"
layout = "columns"                  -- C lies by columns: A's transpose; "rows": as A

tile  = {64, 128, 32}               -- tokens a thread block
warps = {4, 8, 16}                  -- warps of a thread block
hold  = {1, 2, 4}                   -- steps of a tile
