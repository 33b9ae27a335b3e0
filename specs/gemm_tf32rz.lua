-- Dense product of f32, cut off to tf32: C[m,n] = A[m,k] B[k,n], sums in f32. For Hopper, by asynchronous tensor cores.
-- A list is a set of candidates to tune over; the first of each makes the default kernel.

op   = "gemm"
arch = "sm_90a"
lhs  = "tf32rz"                 -- A: row-major, f32 in memory; tensor cores cut its fraction off to 10 bits
rhs  = "tf32rz"                 -- B: [n][ldb], likewise, the k values of a column side by side
out  = "f32"                    -- C: row-major; also f16, bf16, e4m3, e5m2, and with a scale s8, u8, s4, u4
scale = "none"                  -- also "tensor", "row", "column": an f32 for all of C, or for each of its rows or columns
bias  = "none"                  -- also "row", "column"

tile_m = {128, 256, 64}         -- rows of C a thread block
tile_n = {256, 128, 64, 192}    -- columns of C a thread block
stages = {4, 3, 6}              -- tiles of A and B in shared memory
consumers = {2, 1}              -- warpgroups that multiply
turns = {"off", "on"}           -- consumers share a tile, or take whole tiles in turn
store = {"tensor", "pairs", "single"} -- how C is written: by tensor copies; two, or one element at a time

-- m, n, k, lda, ldb, ldc stay open: they are kernel parameters. To fix them: mcgen --set k=4096 ...
