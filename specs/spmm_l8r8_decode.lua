-- SpMM for int8 weights pruned in 8x1 vectors, for 1 to 16 columns (tokens), dequantised to f16: C[m,n] = f16(f32(A[m,k] B[k,n]) * scale[m]).
-- All of B lies in a thread block's shared memory, 16 bytes a row, and thread blocks take row blocks in turn. For Hopper and later; arch = "sm_80" with fewer stages, without overlap and prefetch_l2.

op   = "spmm"
arch = "sm_90"
lhs  = "s8"                     -- A: values of the nonzero vectors
rhs  = "s8"                     -- B: dense, row-major; any ldb; rows are copied by 16, 8 or 4 bytes where ldb is a multiple
out  = "f16"                    -- C: dense, row-major; also bf16, f32, s32
scale = "row"                   -- an f32 for each row of C; also "tensor", "column"
vec  = 8                        -- rows of a nonzero vector

staging = "async"               -- all threads copy, by cp.async
tile_n  = 16                    -- columns of C a thread block
warps   = {16, 8}               -- of a thread block
split   = {4, 2}                -- warps that share a row block
window  = 1024                  -- rows of B; window * stages is the k that fits
stages  = {12, 4, 14}           -- windows in the ring: k up to 12288, 4096, 14336; also 2, 3, 6, 8
resident = "always"             -- the ring has all of B, and thread blocks take row blocks in turn; off: for any k
depth   = {4, 8, 2}             -- strides of A a warp has asked for: 2 in registers, or a queue in shared memory
prefetch_l2 = {"off", "on"}     -- ask L2 for all of a warp's strides as soon as it knows where they lie
overlap = "on"                  -- may start while the kernel before it still runs
align   = 1                     -- of B's address and C's: tested at launch

-- m, n, k, ldb, ldc stay open: they are kernel parameters. To fix them: mcgen --set n=8 --set ldb=8 ...
