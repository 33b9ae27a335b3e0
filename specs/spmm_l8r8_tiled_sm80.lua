-- SpMM for int8 weights pruned in 8x1 vectors at 50 to 95 %, dequantised to f16: C[m,n] = f16(f32(A[m,k] B[k,n]) * scale[m]).
-- As spmm_l8r8_tiled.lua, for Ampere and Ada (and later), and for B that is not aligned to 16 bytes.

op   = "spmm"
arch = "sm_80"
lhs  = "s8"                     -- A: values of the nonzero vectors
rhs  = "s8"                     -- B: dense, row-major; ldb a multiple of 4; wider copies where it is one of 8 or 16
out  = "f16"                    -- C: dense, row-major; also bf16, f32, s32
scale = "row"                   -- an f32 for each row of C; also "tensor", "column"
vec  = 8                        -- rows of a nonzero vector

staging = "async"               -- all threads copy, by cp.async
tile_n  = {64, 128}             -- columns of C a thread block; also 32
warps   = {8, 16}               -- row blocks of a thread block; also 4
window  = {256, 128}            -- rows of B copied at once; also 64
stages  = {6, 4}                -- windows in the ring; also 2, 3, 8, 12
resident = {"off", "on"}        -- where all of B fits: fill the ring once, take row blocks in turn
together = {1, 8, 4}            -- c_major = "column": row blocks that store columns together
align   = 16                    -- of B's address and C's; 4: tested at launch

-- m, n, k, ldb, ldc stay open: they are kernel parameters. To fix them: mcgen --set n=256 --set ldb=256 ...
