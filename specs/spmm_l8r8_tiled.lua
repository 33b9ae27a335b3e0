-- SpMM for int8 weights pruned in 8x1 vectors at 50 to 95 %, dequantised to f16: C[m,n] = f16(f32(A[m,k] B[k,n]) * scale[m]).
-- Windows of B pass through shared memory, from which all row blocks of a thread block gather. For Hopper and later.

op   = "spmm"
arch = "sm_90"
lhs  = "s8"                     -- A: values of the nonzero vectors
rhs  = "s8"                     -- B: dense, row-major; address and ldb multiples of 16
out  = "f16"                    -- C: dense, row-major; also bf16, f32, s32
scale = "row"                   -- an f32 for each row of C; also "tensor", "column"
vec  = 8                        -- rows of a nonzero vector

staging = "tma"                 -- copies by the tensor memory accelerator
tile_n  = 128                   -- columns of C a thread block; also 64, 32
warps   = {16, 8, 4, 15}       -- warps that multiply; one more copies
split   = {1, 2, 4}             -- warps that share a row block: warps / split row blocks make a thread block
window  = {256, 128, 64}        -- rows of B a copy
stages  = {6, 3}                -- windows in the ring; also 2, 4, 8, 12
resident = {"on", "off"}        -- where all of B fits: fill the ring once, take row blocks in turn
group   = {"all", "16"}         -- rows of tiles that go together, for an A larger than L2; also "8", "32"
together = {1, 8, 4, 16}        -- c_major = "column", split = 1: row blocks that store columns together
overlap = "on"                  -- may start while the kernel before it still runs

-- m, n, k, ldb, ldc stay open: they are kernel parameters. To fix them: mcgen --set n=256 --set ldb=256 ...
