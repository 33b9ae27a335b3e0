-- Dense product of floats of 8 bits: C[m,n] = A[m,k] B[k,n], sums in f32 (docs/gemm.md). By mma.sync, for any GPU from sm_89 on, and for rows that begin anywhere.
-- A list is a set of candidates to tune over; the first of each makes the default kernel.

op   = "gemm"
method = "mma"
arch = "sm_89"                  -- also sm_90, sm_100, sm_120: earlier GPUs do not multiply floats of 8 bits
lhs  = "e4m3"                   -- A: row-major; also e5m2
rhs  = "e4m3"                   -- B: [n][ldb], the k values of a column side by side; also e5m2
out  = "f16"                    -- C: row-major; also bf16, f32, e4m3, e5m2, and with a scale s8, u8, s4, u4
scale = "none"                  -- also "tensor", "row", "column": an f32 for all of C, or for each of its rows or columns
bias  = "none"                  -- also "row", "column"

tile_m = {128, 64}              -- rows of C a thread block
tile_n = {128, 256, 64}         -- columns of C a thread block
warp_m = {64, 32}               -- rows of C a warp
warp_n = {32, 64}               -- columns of C a warp
stages = {3, 4}                 -- tiles of A and B in shared memory
span   = {128, 64}              -- bytes of k a stage
copy   = {16, 4, 1}             -- bytes a thread copies at a time, of which rows of A and B are multiples; 1: element by element
store  = {"pairs", "single"}    -- how C is written: two, or one element at a time

-- m, n, k, lda, ldb, ldc stay open: they are kernel parameters. To fix them: mcgen --set k=4096 ...
