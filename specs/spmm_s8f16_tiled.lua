-- SpMM for int8 weights pruned in 8x1 vectors by f16 activations, dequantised in the same kernel:
-- C[m,n] = f16(sum * scale[m]), sums of A[m,k] B[k,n] in f32, a scale for each output channel.
-- Windows of B pass through shared memory, from which all row blocks of a thread block gather. For Hopper and later.

op   = "spmm"
arch = "sm_90"
lhs  = "s8"                     -- A: values of the nonzero vectors, made f16 in the kernel; also u8, s4, u4, e4m3, e5m2
rhs  = "f16"                    -- B: dense, row-major; address and rows multiples of 16 bytes; also bf16, of integers
out  = "f16"                    -- C: dense, row-major; also bf16, f32, e4m3, e5m2, s8, u8, s4, u4
scale = "row"                   -- an f32 for each row of C; also "none", but of integers, "tensor", "column"
vec  = 8                        -- rows of a nonzero vector

staging = "tma"                 -- copies by the tensor memory accelerator
tile_n  = {64, 32}              -- columns of C a thread block
warps   = {16, 8, 4}            -- warps that multiply; one more copies
split   = {1, 2, 4}             -- warps that share a row block: warps / split row blocks make a thread block
window  = {256, 128, 64}        -- rows of B a copy
stages  = {6, 3}                -- windows in the ring; also 2, 4, 8, 12
resident = {"on", "off"}        -- where all of B fits: fill the ring once, take row blocks in turn
together = {1, 8, 4, 16}        -- c_major = "column", split = 1: row blocks that store columns together
overlap = "on"                  -- may start while the kernel before it still runs

-- m, n, k, ldb, ldc stay open: they are kernel parameters. To fix them: mcgen --set n=256 --set ldb=256 ...
