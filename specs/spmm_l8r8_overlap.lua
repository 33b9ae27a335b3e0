-- SpMM for int8 weights pruned in 8x1 vectors, for 17 to 128 columns (tokens), dequantised to f16: C[m,n] = f16(f32(A[m,k] B[k,n]) * scale[m]).
-- Rows of B are gathered from L2, and a kernel starts while the one before it ends. For sparsities from 0.9 on. For Hopper and later; arch = "sm_80" without overlap.

op   = "spmm"
arch = "sm_90"
lhs  = "s8"                     -- A: values of the nonzero vectors
rhs  = "s8"                     -- B: dense, row-major
out  = "f16"                    -- C: dense, row-major; also bf16, f32, s32
scale = "row"                   -- an f32 for each row of C; also "tensor", "column"
vec  = 8                        -- rows of a nonzero vector

tile_n   = {64, 32}             -- columns of C a thread block
stride   = {64, 32}             -- nonzero vectors a warp takes at a time
warps    = {4, 2, 1}            -- warps of a thread block
split    = {4, 2, 1}            -- warps that share one row block
prefetch = "on"                 -- load the next stride's indices and values of A before this stride's mma, not its rows of B
overlap  = "on"                 -- may start while the kernel before it still runs

-- m, n, k, ldb, ldc stay open: they are kernel parameters. To fix them: mcgen --set n=64 --set ldb=64 ...
