-- SpMM for int8 weights pruned in 8x1 vectors at 50 to 95 %, 4-bit right side, dequantised to f16: C[m,n] = f16(f32(A[m,k] B[k,n]) * scale[m]).
-- Windows of B pass through shared memory, from which all row blocks of a thread block gather. For Hopper and later.
-- k at most 131,071 (odd columns are multiplied by 16 on their way), unless it is fixed: then any.

op   = "spmm"
arch = "sm_90"
lhs  = "s8"                     -- A: values of the nonzero vectors; also s4, u4, u8, s12, u12, s16, u16
rhs  = "s4"                     -- B: two columns a byte, the even one in its low half; address a multiple of 16, ldb of 32; also u4
out  = "f16"                    -- C: dense, row-major; also bf16, f32, s32
scale = "row"                   -- an f32 for each row of C; also "tensor", "column"
vec  = 8                        -- rows of a nonzero vector; also 4, 2

staging = "tma"                 -- copies by the tensor memory accelerator
tile_n  = {128, 256}            -- columns of C a thread block: 64 or 128 bytes of a row of B; also 64
warps   = {16, 11, 8, 7, 4}     -- warps that multiply; one more copies. 256 columns leave registers for 11, with lhs of 12 or 16 bits for 7
split   = {1, 2, 4}             -- warps that share a row block: warps / split row blocks make a thread block
window  = {256, 128}            -- rows of B a copy
stages  = {6, 12, 3}            -- windows in the ring; also 2, 4, 8
resident = "on"                 -- where all of B fits: fill the ring once, take row blocks in turn
together = {1, 8, 4, 16}        -- c_major = "column", split = 1: row blocks that store columns together
overlap = "on"                  -- may start while the kernel before it still runs

-- m, n, k, ldb, ldc stay open: they are kernel parameters. To fix them: mcgen --set n=256 --set ldb=256 ...
