-- Activations in f16, row-major [tokens, features], become B of an SpMM: s8, [features, tokens]. A scale for each token is computed in the same kernel.
-- A list is a set of candidates to tune over; the first of each makes the default kernel.

op     = "quantise"
lhs    = "f16"                      -- A: activations; also bf16, f32
out    = "s8"                       -- C; also u8, s4, u4
scale  = "row"                      -- an f32 for each row of A, a token
zero   = "none"                     -- "row": zero points, too
scales = "computed"                 -- "given": scales are read, not written
layout = "columns"                  -- C lies by columns: A's transpose; "rows": as A

tile  = {32, 16, 8, 4}              -- tokens a thread block
warps = {16, 32, 8}                 -- warps of a thread block
hold  = {1, 2}                      -- steps that a thread keeps in registers
keep  = {0, 1, 2, 3, 6}             -- and in shared memory
words = {2, 1}                      -- of 4 bytes that a thread stores of a row of C at once
rounding = {"add", "convert"}       -- by additions to 1.5 * 2^23, or conversions: to the same integers
share = {"open", 256, 512, 5504}    -- columns that a thread block makes: several share the rows, where these are few
cluster = {1, 2, 8}                 -- thread blocks that take the same rows, each a part of their columns: for long rows

-- m, n, lda, ldc stay open. To fix them: mcgen --set m=4096 --set n=4096 ...
