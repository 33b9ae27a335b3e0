-- SDDMM for 16-bit integers: C = A[m,k] B[k,n] where a mask of 8x1 vectors is nonzero, s16 x s16, sums modulo 2^32.
-- Both sides are multiplied in two digits of 8 bits.
-- A list is a set of candidates to tune over; the first of each makes the default kernel.

op  = "sddmm"
lhs = "s16"                     -- A: dense, row-major; also u16, s12, u12
rhs = "s16"                     -- B: dense, [n][ldb]: the k values of a column side by side; also u16, s12, u12
out = "s32"                     -- C: the sums; with a scale also f16, bf16, f32
vec = 8                         -- rows of a nonzero vector; also 16, 4, 2, 1

order    = "bcrs"               -- C vector after vector; also "srbcrs16", "srbcrs32"
groups   = {1, 2, 4}            -- 16 * groups vectors of a row block are a warp's work
warps    = {2, 4, 8}            -- warps of a thread block
tile_k   = {128, 256, 64}       -- k in registers at once: 256, 512 or 128 bytes of a column of B
reads    = {"chunks", "lines"}  -- 64 or 128 bytes of a column of B at once
prefetch = {"on", "off"}        -- load the next 16 columns of B before this group's mma

-- m, n, k, lda, ldb stay open. To fix them: mcgen --set k=256 --set lda=256 --set ldb=256 ...
