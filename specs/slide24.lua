-- Rows become as long as products by weights of 6:8, or another pattern of 2N - 2 of 2N, want them (docs/sparse24.md).
-- A list is a set of candidates to tune over; the first of each makes the default kernel.

op      = "slide24"
lhs     = "f16"                 -- bf16, e4m3, e5m2, s8, u8: elements stay as they are
out     = "f16"                 -- as lhs
pattern = "6:8"                 -- 4:6, 8:10 and so on to 62:64

hold  = {4, 2, 8, 1}            -- rows a thread block
warps = {8, 4}                  -- warps of a thread block

-- m, n, lda, ldc stay open. To fix them: mcgen --set m=4096 --set n=4096 ...
