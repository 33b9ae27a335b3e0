-- Product of a 4:8 matrix of 4-bit integers: C[m,n] = A[m,k] B[k,n], A with at most two of four neighbouring pairs of a row, sums in s32. By mma.sp, whose 4 bits GPUs of sm_80 to sm_89 have; others take several instructions.
-- A list is a set of candidates to tune over; the first of each makes the default kernel.

op   = "gemm24"
method = "mma"
lhs  = "s4"                     -- A: the matrix; also u4
rhs  = "s4"                     -- B: [n][ldb], the k values of a column side by side, two a byte; also u4
out  = "s32"                    -- C: row-major, the sums; also f16, bf16, f32, s8, u8, s4, u4, e4m3, e5m2, with a scale
scale = "none"                  -- also "tensor", "row", "column": an f32 for all of C, or for each of its rows or columns
bias  = "none"                  -- also "row", "column"

tile_m = {128, 64}              -- rows of C a thread block
tile_n = {128, 64}              -- columns of C a thread block
warp_m = {64, 32}               -- rows of C a warp
warp_n = {32, 64}               -- columns of C a warp
stages = {3, 2}                 -- atoms of A and tiles of B in shared memory
copy   = {16, 4, 1}             -- bytes of B a thread copies at a time, of which its columns are multiples; 1: byte by byte
store  = {"pairs", "single"}    -- how C is written: two, or one element at a time

-- m, n, k, ldb, ldc stay open: they are kernel parameters. ldb is even. To fix them: mcgen --set k=4096 ...
