-- Dense product of 4-bit integers: C[m,n] = A[m,k] B[k,n], sums in s32. By mma.sync, whose 4 bits GPUs of sm_80 to sm_89 have; others take several instructions.
-- A list is a set of candidates to tune over; the first of each makes the default kernel.

op   = "gemm"
method = "mma"
lhs  = "s4"                     -- A: row-major, two elements a byte, the one of the lower k in its low half; also u4
rhs  = "s4"                     -- B: [n][ldb], the k values of a column side by side, two a byte; also u4
out  = "s32"                    -- C: row-major, the sums; also f16, bf16, f32, s8, u8, s4, u4, e4m3, e5m2, with a scale
scale = "none"                  -- also "tensor", "row", "column": an f32 for all of C, or for each of its rows or columns
bias  = "none"                  -- also "row", "column"

tile_m = {128, 64}              -- rows of C a thread block
tile_n = {128, 256, 64}         -- columns of C a thread block
warp_m = {64, 32}               -- rows of C a warp
warp_n = {64, 32}               -- columns of C a warp
stages = {3, 4}                 -- tiles of A and B in shared memory
span   = {128, 64}              -- bytes of k a stage, of two elements each
copy   = {16, 4, 1}             -- bytes a thread copies at a time, of which rows of A and B are multiples; 1: byte by byte
store  = {"pairs", "single"}    -- how C is written: two, or one element at a time

-- m, n, k, lda, ldb, ldc stay open: they are kernel parameters. lda and ldb are even. To fix them: mcgen --set k=4096 ...
