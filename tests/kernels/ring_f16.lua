-- The ring kernel with f16: not among the shipped specs until it has proven itself on a GPU (docs/floats.md).

op   = "spmm"
arch = "sm_90"
lhs  = "f16"
rhs  = "f16"
out  = "f16"                    -- C: dense, row-major; also bf16, f32, s32
scale = "none"                   -- an f32 for each row of C; also "tensor", "column"
vec  = 8                        -- rows of a nonzero vector

staging = "tma"                 -- copies by the tensor memory accelerator
tile_n = {64, 32}
warps   = {16, 8, 4}            -- warps that multiply; one more copies
split   = {1, 2, 4}             -- warps that share a row block: warps / split row blocks make a thread block
window  = {256, 128, 64}        -- rows of B a copy
stages  = {6, 3}                -- windows in the ring; also 2, 4, 8, 12
resident = {"on", "off"}        -- where all of B fits: fill the ring once, take row blocks in turn
overlap = "on"                  -- may start while the kernel before it still runs

-- m, n, k, ldb, ldc stay open: they are kernel parameters. To fix them: mcgen --set n=256 --set ldb=256 ...
