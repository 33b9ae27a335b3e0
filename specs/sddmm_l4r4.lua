-- SDDMM for 4-bit integers: C = A[m,k] B[k,n] where a mask of 8x1 vectors is nonzero, s4 x s4 -> s32.
-- B's values are multiplied by 16 on their way: k is at most 2,097,151, unless it is fixed: then any.
-- A list is a set of candidates to tune over; the first of each makes the default kernel.

op  = "sddmm"
lhs = "s4"                      -- A: dense, row-major, two elements a byte, the even one in its low half; also u4
rhs = "s4"                      -- B: dense, [n][ldb]: the k values of a column side by side; two elements a byte; also u4
out = "s32"                     -- C: the sums; with a scale also f16, bf16, f32
vec = 8                         -- rows of a nonzero vector; also 16, 4, 2, 1

order    = "bcrs"               -- C vector after vector; also "srbcrs16", "srbcrs32"
groups   = {2, 1, 4}            -- 16 * groups vectors of a row block are a warp's work
warps    = {2, 4, 8}            -- warps of a thread block
tile_k   = {256, 128, 512}      -- k in registers at once: 128, 64 or 256 bytes of a column of B
reads    = {"chunks", "lines"}  -- 64 or 128 bytes of a column of B at once
prefetch = {"on", "off"}        -- load the next 16 columns of B before this group's mma
run      = {1, 4}               -- order srbcrs16, srbcrs32: neighbouring slots that a lane stores at once

-- m, n, k, lda, ldb stay open. To fix them: mcgen --set k=256 --set lda=256 --set ldb=256 ...
