-- SDDMM for int8, dequantised in the same kernel to f16: C = A[m,k] B[k,n] where a mask of 8x1 vectors is nonzero, f16(f32(sum) * scale[row]).
-- A list is a set of candidates to tune over; the first of each makes the default kernel.

op  = "sddmm"
lhs = "s8"                      -- A: dense, row-major
rhs = "s8"                      -- B: dense, [n][ldb]: the k values of a column side by side
out = "f16"                     -- C; also bf16, f32, and s32 for the sums as they are
scale = "row"                   -- an f32 for each row of A; also "tensor", "column"
mask  = "pattern"               -- "values": C is multiplied by the mask's own values, f32
vec = 8                         -- rows of a nonzero vector; also 16, 4, 2, 1

order    = "bcrs"               -- C vector after vector; also "srbcrs16", "srbcrs32"
groups   = {2, 1, 4}            -- 16 * groups vectors of a row block are a warp's work
warps    = {2, 4, 8}            -- warps of a thread block
tile_k   = {256, 128, 64}       -- k in registers at once: 256, 128 or 64 bytes of a column of B
reads    = {"lines", "chunks"}  -- 64 or 128 bytes of a column of B at once
prefetch = {"on", "off"}        -- load the next 16 columns of B before this group's mma
run      = {1, 4}               -- order srbcrs16, srbcrs32: neighbouring slots that a lane stores at once

-- m, n, k, lda, ldb stay open. To fix them: mcgen --set k=256 --set lda=256 --set ldb=256 ...
