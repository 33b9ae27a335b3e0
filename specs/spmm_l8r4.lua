-- SpMM for int8 weights pruned in 8x1 vectors, 4-bit right side: C[m,n] = A[m,k] B[k,n], s8 x s4, sums modulo 2^32.
-- 4-bit tensor cores multiply them where there are some, A in digits of 4 bits: with arch = "sm_80" (the default without a GPU), "sm_86", "sm_89". For newer GPUs say
-- --arch sm_90: then 8-bit ones do, and k is at most 131,071 (odd columns are multiplied by 16 on their way), unless it is fixed: then any.
-- A list is a set of candidates to tune over; the first of each makes the default kernel.

op  = "spmm"
lhs = "s8"                      -- A: values of the nonzero vectors; also u8
rhs = "s4"                      -- B: two columns a byte, the even one in its low half; also u4
out = "s32"                     -- C: dense, row-major; with a scale also f16, bf16, f32
vec = 8                         -- rows of a nonzero vector; also 4, 2

mma     = "auto"                -- 4-bit where arch has it; "int4" or "int8" forces either
shuffle = "on"                  -- Magicube's index shuffle, for 4-bit mma; "off" reorders by instructions

tile_n   = {128, 64, 256}       -- columns of C a thread block: 64, 32 or 128 bytes of a row of B; 256 with 8-bit mma
stride   = {32, 64}             -- nonzero vectors a warp takes at a time
warps    = {4, 1, 2, 8}         -- warps of a thread block
split    = {4, 1, 2, 8}         -- warps that share one row block
prefetch = {"on", "off"}        -- load the next stride's indices and values of A before this stride's mma, not its rows of B

-- m, n, k, ldb, ldc stay open: they are kernel parameters. To fix them: mcgen --set n=256 --set ldb=256 ...
