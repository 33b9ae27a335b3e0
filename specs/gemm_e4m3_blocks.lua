-- Dense product of floats of 8 bits with scales of blocks: C[m,n] = A[m,k] B[k,n], sums of 128 products, scaled and promoted to f32. For Hopper, by asynchronous tensor cores.
-- A list is a set of candidates to tune over; the first of each makes the default kernel.

op   = "gemm"
arch = "sm_90a"
lhs  = "e4m3"                   -- A: row-major; also e5m2
rhs  = "e4m3"                   -- B: [n][ldb], the k values of a column side by side; also e5m2
out  = "bf16"                   -- C: row-major; also f16, f32, e4m3, e5m2, and with a scale s8, u8, s4, u4
sums = "promoted"               -- of each 128 products, and then added up in f32
block_scales = "on"             -- each such sum is multiplied by a_blocks of its row times b_blocks of its 128 columns
a_blocks_major = "row"          -- a_blocks: [m][k / 128]; "column": [k / 128][m]
scale = "none"                  -- also "tensor", "row", "column": an f32 for all of C, or for each of its rows or columns
bias  = "none"                  -- also "row", "column"

tile_m = {128, 64}              -- rows of C a thread block
tile_n = {128, 64, 32}          -- columns of C a thread block
stages = {4, 3, 6}              -- tiles of A and B in shared memory
consumers = {2, 1}              -- warpgroups that multiply
turns = {"off", "on"}           -- consumers share a tile, or take whole tiles in turn
store = {"tensor", "pairs", "single"} -- how C is written: by tensor copies; two, or one element at a time

-- m, n, k, lda, ldb, ldc stay open: they are kernel parameters. To fix them: mcgen --set k=4096 ...
