-- The backward pass of an SpMM: C[k,n] = A^T B, A[m,k] in 8x1 vectors whose f16 values lie once, as an optimiser
-- and an SDDMM of order bcrs have them; B[m,n] dense, row-major, products of f16, sums in f32.
-- A list is a set of candidates to tune over; the first of each makes the default kernel.

op  = "spmmt"
lhs = "f16"                     -- A: values of the nonzero vectors, in the order bcrs; also bf16, with rhs = "bf16"
rhs = "f16"                     -- B: dense, row-major
out = "f16"                     -- C: dense, row-major; also bf16, f32
vec = 8                         -- rows of a nonzero vector; also 4, 2, 1, and 16 with blocks = 1

tile_k = {512, 1024}            -- rows of C (columns of A) a thread block
tile_n = 32                     -- columns of C a thread block; also 16, 64, 128
warp_k = {256, 512}             -- rows of C a warp
warp_n = {16, 32}               -- columns of C a warp
slots  = 16                     -- columns of A a warp takes at a time; also 32
blocks = {1, 2}                 -- row blocks a warp takes at a time
ahead  = {3, 4, 6, 2}           -- half the steps of a turn; values are asked for a turn ahead
stage_rows = {128, 256}         -- rows of B that are copied at a time

-- m, n, k, ldb, ldc stay open: they are kernel parameters. To fix them: mcgen --set n=256 --set ldb=256 ...
