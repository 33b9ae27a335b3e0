-- SpMM for int8 weights pruned in 16x1 vectors at 70 to 95 %, dequantised to f16: C[m,n] = f16(f32(A[m,k] B[k,n]) * scale[m]).
-- For many columns (1024 and more tokens): sparse mma multiply pairs of bytes as ldmatrix brings them. For Hopper and later.

op   = "spmm"
arch = "sm_90"
lhs  = "s8"                     -- A: values of the nonzero vectors
rhs  = "s8"                     -- B: dense, row-major; address and ldb multiples of 16
out  = "f16"                    -- C: dense, row-major; also bf16, f32, s32
scale = "row"                   -- an f32 for each row of C; also "tensor", "column"
vec  = 16                       -- rows of a nonzero vector

staging = "tma"                 -- copies by the tensor memory accelerator
sparse_mma = "on"               -- mma.sp pick bytes of B out of pairs: 32 slots of a column, not 16 with zeros between
tile_n  = {128, 64}             -- columns of C a thread block
warps   = {15, 13, 11, 8, 4}    -- warps that multiply, each a row block; one more copies
window  = 256                   -- rows of B a copy; also 64, 128
stages  = {6, 4}                -- windows in the ring; also 2, 3, 5, 7
group   = {"all", "16"}         -- rows of tiles that go together, for an A larger than L2; also "8", "32"
overlap = "on"                  -- may start while the kernel before it still runs

-- m, n, k, ldb, ldc stay open: they are kernel parameters. To fix them: mcgen --set n=256 --set ldb=256 ...
