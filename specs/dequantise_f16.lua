-- The way back: sums in s32, [features, tokens], become activations in f16, row-major [tokens, features], with a scale for each token.
-- A list is a set of candidates to tune over; the first of each makes the default kernel.

op     = "quantise"
lhs    = "s32"                      -- A: what an SpMM gives; also f32, f16, bf16
out    = "f16"                      -- C; also bf16, f32
scale  = "column"                   -- a column of A is a token; "row": a feature; "tensor", "none"
layout = "columns"                  -- C lies by columns: A's transpose

tile  = {64, 32, 128}               -- features a thread block
warps = {8, 4, 16}                  -- warps of a thread block
hold  = {1, 2, 4}                   -- steps of a tile
