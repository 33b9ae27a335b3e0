-- SpMM for int8 weights pruned in 8x1 vectors, for 17 columns (tokens) and more, both operands by columns, as layers of networks have them. Dequantised to f16: C[m,n] = f16(f32(A[m,k] B[k,n]) * scale[m]).
-- A comes as packed pairs of columns, and is expanded in the registers of those who multiply. For Hopper.

op   = "spmm"
arch = "sm_90a"
lhs  = "s8"                     -- A: values of the nonzero vectors; also u8
rhs  = "s8"                     -- B: [n][ldb], the k values of a column (a token) side by side; also u8
out  = "f16"                    -- C: [n][ldc], the m values of a column side by side; also bf16, f32, s32, s8
scale = "row"                   -- an f32 for each row of C; also "tensor", "column"
vec  = 8                        -- rows of a nonzero vector; also 16

staging = "fragments"
b_major = "column"
c_major = "column"
block_rows = {256, 128, 192}    -- rows of C a thread block; also 64, 512
tile_n = {64, 128, 256}         -- columns of C a thread block; also 32
warps = {8, 4, 12}              -- that multiply
stages = {5, 4, 6}              -- of A's packed tiles and of tiles of B, in shared memory; also 2, 3, 7, 8
parts  = {1, 2, 4, 8}           -- thread blocks of a cluster, each with a part of k
stream_k = {"off", "on"}        -- parts = 1: thread blocks take tiles in turn, the last ones dealt out along k
overlap = "on"                  -- may start while the kernel before it still runs

-- m, n, k, ldb, ldc stay open: they are kernel parameters. To fix them: mcgen --set k=4096 ...
