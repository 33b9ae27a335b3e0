-- SDDMM for int8: C = A[m,k] B[k,n] where a mask of 8x1 vectors is nonzero, s8 x s8 -> s32.
-- A list is a set of candidates to tune over; the first of each makes the default kernel.

op  = "sddmm"
lhs = "s8"                      -- A: dense, row-major
rhs = "s8"                      -- B: dense, [n][ldb]: the k values of a column side by side
out = "s32"                     -- C: the sums; with a scale also f16, bf16, f32
vec = 8                         -- rows of a nonzero vector; also 16, 4, 2, 1

order    = "bcrs"               -- C vector after vector; also "srbcrs16", "srbcrs32"
groups   = {2, 1, 4}            -- 16 * groups vectors of a row block are a warp's work
warps    = {2, 4, 8}            -- warps of a thread block
tile_k   = {256, 128, 64}       -- k in registers at once: 256, 128 or 64 bytes of a column of B
reads    = {"lines", "chunks"}  -- 64 or 128 bytes of a column of B at once
prefetch = {"on", "off"}        -- load the next 16 columns of B before this group's mma
run      = {1, 4}               -- order srbcrs16, srbcrs32: neighbouring slots that a lane stores at once

-- m, n, k, lda, ldb stay open. To fix them: mcgen --set k=256 --set lda=256 --set ldb=256 ...
