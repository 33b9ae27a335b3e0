-- SpMM for int16 weights pruned in 8x1 vectors, int8 right side: C[m,n] = A[m,k] B[k,n], s16 x s8, sums modulo 2^32.
-- A list is a set of candidates to tune over; the first of each makes the default kernel.

op  = "spmm"
lhs = "s16"                     -- A: values of the nonzero vectors, multiplied as two digits of 8 bits; also u16
rhs = "s8"                      -- B: dense, row-major; also u8
out = "s32"                     -- C: dense, row-major; with a scale also f16, bf16, f32
vec = 8                         -- rows of a nonzero vector; also 4, 2

tile_n   = {128, 64, 32}        -- columns of C a thread block
stride   = {32, 64}             -- nonzero vectors a warp takes at a time
warps    = {4, 1, 2, 8}         -- warps of a thread block
split    = {4, 1, 2, 8}         -- warps that share one row block
prefetch = {"on", "off"}        -- load the next stride's indices and values of A before this stride's mma, not its rows of B

-- m, n, k, ldb, ldc stay open: they are kernel parameters. To fix them: mcgen --set n=256 --set ldb=256 ...
