-- SpMM for int8 weights pruned in 8x1 vectors, for few columns (32 to 64 tokens), dequantised to f16: C[m,n] = f16(f32(A[m,k] B[k,n]) * scale[m]).
-- The thread blocks of a cluster share k: each copies a part of B whole to its shared memory, and adds up sums with the others. All row blocks run at once where there are warps enough, else they may take turns. For Hopper and later.

op   = "spmm"
arch = "sm_90"
lhs  = "s8"                     -- A: values of the nonzero vectors
rhs  = "s8"                     -- B: dense, row-major
out  = "f16"                    -- C: dense, row-major; also bf16, f32, s32
scale = "row"                   -- an f32 for each row of C; also "tensor", "column"
vec  = 8                        -- rows of a nonzero vector

staging = "async"               -- copies by all threads
resident = {"always", "on"}     -- all of a part at once: k of at most parts * window * stages; "on": row blocks in turn
parts   = {2, 4}                -- thread blocks of a cluster, each with a part of k
tile_n  = {64, 32}              -- columns of C a thread block
warps   = {16, 18, 20, 22, 24, 28} -- row blocks a thread block
window  = 256                   -- rows of B of a window: a part is so many whole ones
stages  = {8, 12, 4}            -- windows of a part, at most
depth   = {3, 2}                -- strides of A in registers; with up to 16 warps also 4, 8, 16: more in a queue in shared memory
prefetch_l2 = {"off", "on"}     -- ask L2 for the strides of the row block
overlap = "on"                  -- may start while the kernel before it still runs

-- m, n, k, ldb, ldc stay open: they are kernel parameters. To fix them: mcgen --set n=64 --set ldb=64 ...
