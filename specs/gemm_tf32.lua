-- Dense product of f32, rounded to tf32: C[m,n] = A[m,k] B[k,n], sums in f32. By mma.sync, for any GPU from sm_80 on, and for rows that begin anywhere.
-- A list is a set of candidates to tune over; the first of each makes the default kernel.

op   = "gemm"
method = "mma"
lhs  = "tf32"                   -- A: row-major, f32 in memory; the kernel rounds it to a fraction of 10 bits
rhs  = "tf32"                   -- B: [n][ldb], likewise, the k values of a column side by side; or [k][ldb], layout = "rows"
out  = "f32"                    -- C: row-major; also f16, bf16, e4m3, e5m2, and with a scale s8, u8, s4, u4
scale = "none"                  -- also "tensor", "row", "column": an f32 for all of C, or for each of its rows or columns
bias  = "none"                  -- also "row", "column"

tile_m = {128, 64}              -- rows of C a thread block
tile_n = {128, 256, 64}         -- columns of C a thread block
warp_m = {64, 32}               -- rows of C a warp
warp_n = {64, 32}               -- columns of C a warp
stages = {3, 4}                 -- tiles of A and B in shared memory
span   = {128, 64}              -- bytes of k a stage
copy   = {16, 4}                -- bytes a thread copies at a time, of which rows of A and B are multiples
store  = {"pairs", "single"}    -- how C is written: two, or one element at a time

-- m, n, k, lda, ldb, ldc stay open: they are kernel parameters. To fix them: mcgen --set k=4096 ...
