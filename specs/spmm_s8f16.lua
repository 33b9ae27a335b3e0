-- SpMM for int8 weights pruned in 8x1 vectors by f16 activations, dequantised in the same kernel:
-- C[m,n] = f16(sum * scale[m]), sums of A[m,k] B[k,n] in f32, a scale for each output channel.
-- A list is a set of candidates to tune over; the first of each makes the default kernel.

op  = "spmm"
lhs = "s8"                      -- A: values of the nonzero vectors, made f16 in the kernel; also u8, s4, u4, e4m3, e5m2
rhs = "f16"                     -- B: dense, row-major; also bf16, of integers
out = "f16"                     -- C: dense, row-major; also bf16, f32, e4m3, e5m2, s8, u8, s4, u4
scale = "row"                   -- an f32 for each row of C; also "none", but of integers, "tensor", "column"
bias  = "none"                  -- also "row", "column"
vec = 8                         -- rows of a nonzero vector

tile_n   = {64, 32}             -- columns of C a thread block
stride   = {32, 64}             -- nonzero vectors a warp takes at a time
warps    = {4, 1, 2, 8}         -- warps of a thread block
split    = {4, 1, 2, 8}         -- warps that share one row block
prefetch = {"on", "off"}        -- load the next stride's indices and values of A before this stride's mma, not its rows of B

-- m, n, k, ldb, ldc stay open: they are kernel parameters. To fix them: mcgen --set n=256 --set ldb=256 ...
