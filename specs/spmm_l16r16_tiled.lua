-- SpMM for int16 weights pruned in 8x1 vectors, int16 right side, dequantised to f16: C[m,n] = f16(f32(A[m,k] B[k,n]) * scale[m]).
-- As spmm_l8r8_tiled.lua: windows of B pass through shared memory, from which all row blocks of a thread block gather.

op   = "spmm"
arch = "sm_90"
lhs  = "s16"                    -- A: values of the nonzero vectors, two digits of 8 bits; also u16, s12, u12 and narrower
rhs  = "s16"                    -- B: dense, row-major, two digits of 8 bits; address a multiple of 16, ldb of 8; also u16, s12, u12
out  = "f16"                    -- C: dense, row-major; also bf16, f32, s32
scale = "row"                   -- an f32 for each row of C; also "tensor", "column"
vec  = 8                        -- rows of a nonzero vector

staging = "tma"                 -- copies by the tensor memory accelerator
tile_n  = {64, 32}              -- columns of C a thread block: 128 or 64 bytes of a row of B
warps   = {15, 8}               -- warps that multiply; one more copies; also 4, 11 and, for 32 columns, 16
split   = {1, 2, 4}             -- warps that share a row block: warps / split row blocks make a thread block
window  = {256, 128}            -- rows of B a copy
stages  = {6, 3}                -- windows in the ring; also 2, 4, 8, 12
resident = {"on", "off"}        -- where all of B fits: fill the ring once, take row blocks in turn
together = {1, 8, 4, 16}        -- c_major = "column", split = 1: row blocks that store columns together
overlap = "on"                  -- may start while the kernel before it still runs

-- m, n, k, ldb, ldc stay open: they are kernel parameters. To fix them: mcgen --set n=256 --set ldb=256 ...
