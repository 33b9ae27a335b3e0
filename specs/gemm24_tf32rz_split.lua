-- Product of a 1:2 matrix of f32, cut off to tf32, with few columns, or few tiles: C[m,n] = A[m,k] B[k,n], sums in f32. For Hopper, by asynchronous tensor cores;
-- the thread blocks of a cluster share a tile, each with a part of k.
-- A list is a set of candidates to tune over; the first of each makes the default kernel.

op   = "gemm24"
arch = "sm_90a"
lhs  = "tf32rz"                 -- A: the matrix, f32 in memory; tensor cores cut its fraction off to 10 bits
rhs  = "tf32rz"                 -- B: [n][ldb], likewise, the k values of a column side by side
out  = "f32"                    -- C: row-major; also f16, bf16, e4m3, e5m2, and with a scale s8, u8, s4, u4
scale = "none"                  -- also "tensor", "row", "column": an f32 for all of C, or for each of its rows or columns
bias  = "none"                  -- also "row", "column"

tile_m = {64, 128, 256}         -- rows of C a thread block
tile_n = {16, 8, 32, 64, 128}   -- columns of C a thread block
stages = {8, 4, 12}             -- tiles of A and B in shared memory
consumers = {1, 2}              -- warpgroups that multiply
split = {2, 1, 4, 8}            -- thread blocks of a cluster that share a tile, each with a part of k
store = {"pairs", "single"}     -- how C is written: two, or one element at a time; also "tensor"
overlap = "on"                  -- the kernel may start before the one ahead has ended
early = "on"                    -- and copies A, which nothing ahead writes, before that

-- m, n, k, ldb, ldc stay open: they are kernel parameters. To fix them: mcgen --set k=4096 ...
