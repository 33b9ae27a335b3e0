-- SpMM for f32 weights pruned in 8x1 vectors: C[m,n] = A[m,k] B[k,n], both rounded to tf32, sums in f32.
-- A list is a set of candidates to tune over; the first of each makes the default kernel.

op  = "spmm"
lhs = "tf32"                    -- A: values of the nonzero vectors, f32 in memory, rounded to a fraction of 10 bits
rhs = "tf32"                    -- B: dense, row-major, f32 in memory; the kernel rounds it
out = "f32"                     -- C: dense, row-major; also f16, bf16, e4m3, e5m2, and with a scale s8, u8, s4, u4
scale = "none"                  -- also "tensor", "row", "column": an f32 for all of C, or for each of its rows or columns
bias  = "none"                  -- also "row", "column"
vec = 8                         -- rows of a nonzero vector

tile_n   = 32                   -- columns of C a thread block
stride   = {32, 64}             -- nonzero vectors a warp takes at a time
warps    = {4, 1, 2, 8}         -- warps of a thread block
split    = {4, 1, 2, 8}         -- warps that share one row block
prefetch = {"on", "off"}        -- load the next stride's indices and values of A before this stride's mma, not its rows of B

-- m, n, k, ldb, ldc stay open: they are kernel parameters. To fix them: mcgen --set n=256 --set ldb=256 ...
