-- SpMM for int8 weights pruned in 8x1 vectors, for few columns (16 to 64 tokens), dequantised to f16: C[m,n] = f16(f32(A[m,k] B[k,n]) * scale[m]).
-- The thread blocks of a cluster share k: each takes a part of B's windows into its shared memory, and their sums are added up there. For Hopper and later.

op   = "spmm"
arch = "sm_90"
lhs  = "s8"                     -- A: values of the nonzero vectors
rhs  = "s8"                     -- B: dense, row-major; address and ldb multiples of 16
out  = "f16"                    -- C: dense, row-major; also bf16, f32, s32
scale = "row"                   -- an f32 for each row of C; also "tensor", "column"
vec  = 8                        -- rows of a nonzero vector

staging = "tma"                 -- copies by the tensor memory accelerator
parts   = {2, 4}                -- thread blocks of a cluster, each with a part of k; also 8
tile_n  = {64, 32}              -- columns of C a thread block
warps   = {16, 8}               -- warps that multiply, each a row block; one more copies
window  = 256                   -- rows of B a copy; also 64, 128
stages  = {6, 8, 4}             -- windows in the ring of a part; also 2, 3, 12
resident = {"off", "on"}        -- where all of a part fits: fill the ring once, take row blocks in turn (many rows)
depth   = {8, 4, 3}             -- strides of A a warp has asked for: 3 in registers, more in a queue in shared memory; also 2, 16
prefetch_l2 = {"off", "on"}     -- ask L2 for the strides of the row block at hand and, with resident, of the next one
overlap = "on"                  -- may start while the kernel before it still runs

-- m, n, k, ldb, ldc stay open: they are kernel parameters. To fix them: mcgen --set n=64 --set ldb=64 ...
