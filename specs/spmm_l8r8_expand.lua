-- SpMM for int8 weights pruned in 8x1 vectors, for 17 columns (tokens) and more, both operands by columns, as layers of networks have them. Dequantised to f16: C[m,n] = f16(f32(A[m,k] B[k,n]) * scale[m]).
-- Dense tiles of A are expanded from bitmaps on their way to the tensor cores. For Hopper.

op   = "spmm"
arch = "sm_90a"
lhs  = "s8"                     -- A: values of the nonzero vectors; also u8
rhs  = "s8"                     -- B: [n][ldb], the k values of a column (a token) side by side; also u8
out  = "f16"                    -- C: [n][ldc], the m values of a column side by side; also bf16, f32, s32, s8
scale = "row"                   -- an f32 for each row of C; also "tensor", "column"
vec  = 8                        -- rows of a nonzero vector; also 16

staging = "expand"
b_major = "column"
c_major = "column"
block_rows = {128, 192, 64}     -- rows of C a thread block
tile_n = {64, 128, 256}         -- columns of C a thread block
stages = {4, 6, 3}              -- tiles of A and B in shared memory
parts  = {1, 2, 4}              -- thread blocks of a cluster, each with a part of k; also 8
overlap = "on"                  -- may start while the kernel before it still runs

-- m, n, k, ldb, ldc stay open: they are kernel parameters. To fix them: mcgen --set k=4096 ...
