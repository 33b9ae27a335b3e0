-- SDDMM for floats from windows of B in shared memory, for large masks: C = A[m,k] B[k,n] where a mask of 8x1 vectors
-- is nonzero, bf16 x bf16, sums in f32. A list is a set of candidates to tune over; the first of each makes the default kernel.

op     = "sddmm"
method = "window"               -- a thread block copies a window of columns, its warps compute what lies in it
lhs = "bf16"                    -- A: dense, row-major
rhs = "bf16"                    -- B: dense, [n][ldb]: the k values of a column side by side
out = "bf16"                    -- C: the mask's vectors; also f16, f32, e4m3, e5m2, and with a scale s8, u8
scale = "none"                  -- also "tensor", "row", "column": an f32 for all of C, or for each row or column
vec = 8                         -- rows of a nonzero vector
k   = 256                       -- fixed: a column is 512 bytes of shared memory

order      = "bcrs"             -- C vector after vector; also "srbcrs16", "srbcrs32"
window     = {256, 128, 192, 384, 288}
warps      = {16, 12, 8}        -- warps of a thread block
groups     = {8, 4, 2}          -- 16 * groups vectors of a row block are a warp's work, for which it loads A once
tile_k     = 256                -- not less than k
interleave = {2, 1}             -- groups whose mma take turns
staging    = {"tma", "async"}   -- how columns come to shared memory: by tensor copies, of sm_90 and later, or by threads
prefetch   = "off"              -- on: load the next vectors' rows of A before these are computed; of interleave = 1 alone

-- m, n, lda and ldb stay open; lda and ldb must be multiples of 8.
