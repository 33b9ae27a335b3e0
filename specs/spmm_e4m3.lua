-- SpMM for fp8 weights pruned in 8x1 vectors: C[m,n] = A[m,k] B[k,n], products of e4m3, sums in f32.
-- A list is a set of candidates to tune over; the first of each makes the default kernel.

arch = "sm_90"                  -- only sm_89 and sm_120 have mma of 8-bit floats; kernels for others make f16 of them

op  = "spmm"
lhs = "e4m3"                    -- A: values of the nonzero vectors; also e5m2
rhs = "e4m3"                    -- B: dense, row-major; also e5m2, with either A
out = "f16"                     -- C: dense, row-major; also bf16, f32, e4m3, e5m2, s8, u8, s4, u4
scale = "row"                   -- an f32 for each row of C; also "none", but of integers, "tensor", "column"
bias  = "none"                  -- also "row", "column"
vec = 8                         -- rows of a nonzero vector

tile_n   = {128, 64, 32}        -- columns of C a thread block
stride   = {32, 64}             -- nonzero vectors a warp takes at a time
warps    = {4, 1, 2, 8}         -- warps of a thread block
split    = {4, 1, 2, 8}         -- warps that share one row block
prefetch = {"on", "off"}        -- load the next stride's indices and values of A before this stride's mma, not its rows of B

-- m, n, k, ldb, ldc stay open: they are kernel parameters. To fix them: mcgen --set n=256 --set ldb=256 ...
