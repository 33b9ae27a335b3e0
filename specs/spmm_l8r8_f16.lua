-- SpMM for int8 weights pruned in 8x1 vectors, dequantised in the same kernel to f16:
-- C[m,n] = f16(f32(A[m,k] B[k,n]) * scale[m]), a scale for each output channel.
-- A list is a set of candidates to tune over; the first of each makes the default kernel.

op  = "spmm"
lhs = "s8"                      -- A: values of the nonzero vectors
rhs = "s8"                      -- B: dense, row-major
out = "f16"                     -- C: dense, row-major; also bf16, f32, and s32 for the sums as they are
scale = "row"                   -- an f32 for each row of C; also "tensor", "column"
bias  = "none"                  -- also "row", "column"
vec = 8                         -- rows of a nonzero vector

tile_n   = {128, 64, 32}        -- columns of C a thread block
stride   = {32, 64}             -- nonzero vectors a warp takes at a time
warps    = {4, 1, 2, 8}         -- warps of a thread block
split    = {4, 1, 2, 8}         -- warps that share one row block
prefetch = {"on", "off"}        -- load the next stride's indices and values of A before this stride's mma, not its rows of B

-- m, n, k, ldb, ldc stay open: they are kernel parameters. To fix them: mcgen --set n=256 --set ldb=256 ...
