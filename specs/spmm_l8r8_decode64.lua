-- SpMM for int8 weights pruned in 8x1 vectors, for 17 to 64 columns (tokens) and a k of up to 6144, dequantised to f16: C[m,n] = f16(f32(A[m,k] B[k,n]) * scale[m]).
-- All of B's 32 or 64 columns lie in a thread block's shared memory, and thread blocks take row blocks in turn. For Hopper and later; arch = "sm_80" without overlap and prefetch_l2.

op   = "spmm"
arch = "sm_90"
lhs  = "s8"                     -- A: values of the nonzero vectors
rhs  = "s8"                     -- B: dense, row-major; address and ldb multiples of 4
out  = "f16"                    -- C: dense, row-major; also bf16, f32, s32
scale = "row"                   -- an f32 for each row of C; also "tensor", "column"
vec  = 8                        -- rows of a nonzero vector

staging = "async"               -- all threads copy, by cp.async
tile_n  = {32, 64}              -- columns of C a thread block; with 64 of them k is at most 2048, or 3072 with stages = 3
warps   = {16, 8}               -- of a thread block
split   = {4, 2, 1}             -- warps that share a row block
window  = 1024                  -- rows of B; window * stages is the k that fits
stages  = {4, 2, 6}             -- windows in the ring; also 3
resident = "always"             -- the ring has all of B, and thread blocks take row blocks in turn
depth   = {4, 8, 2}             -- strides of A a warp has asked for: 2 in registers, or a queue in shared memory
prefetch_l2 = {"off", "on"}     -- ask L2 for all of a warp's strides as soon as it knows where they lie
overlap = "on"                  -- may start while the kernel before it still runs

-- m, n, k, ldb, ldc stay open: they are kernel parameters. To fix them: mcgen --set n=64 --set ldb=64 ...
