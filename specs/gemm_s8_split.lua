-- Dense product of 8-bit integers with few columns, or few tiles: C[m,n] = A[m,k] B[k,n]. For Hopper, by asynchronous tensor cores;
-- the thread blocks of a cluster share a tile, each with a part of k.
-- A list is a set of candidates to tune over; the first of each makes the default kernel.

op   = "gemm"
arch = "sm_90a"
lhs  = "s8"                     -- A: row-major; also u8
rhs  = "s8"                     -- B: [n][ldb], the k values of a column side by side; also u8
out  = "s32"                    -- C: row-major, the sums; also f16, bf16, f32, s8, u8, s4, u4, e4m3, e5m2, with a scale
scale = "none"                  -- also "tensor", "row", "column": an f32 for all of C, or for each of its rows or columns
bias  = "none"                  -- also "row", "column"

tile_m = {64, 128, 256}         -- rows of C a thread block
tile_n = {16, 8, 32, 64, 128}   -- columns of C a thread block
stages = {10, 4, 20}            -- tiles of A and B in shared memory
consumers = {1, 2}              -- warpgroups that multiply
split = {2, 1, 4, 8}            -- thread blocks of a cluster that share a tile, each with a part of k
store = {"pairs", "single"}     -- how C is written: two, or one element at a time; also "tensor"

-- m, n, k, lda, ldb, ldc stay open: they are kernel parameters. To fix them: mcgen --set k=4096 ...
