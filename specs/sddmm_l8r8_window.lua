-- SDDMM for int8 from windows of B in shared memory, for large masks: C = A[m,k] B[k,n] where a mask of 8x1 vectors
-- is nonzero, s8 x s8 -> f16. A list is a set of candidates to tune over; the first of each makes the default kernel.

op     = "sddmm"
method = "window"               -- a thread block copies a window of columns, its warps compute what lies in it
lhs = "s8"                      -- A: dense, row-major
rhs = "s8"                      -- B: dense, [n][ldb]: the k values of a column side by side
out = "f16"                     -- C: the mask's vectors; f16(f32(sum) * scale)
scale = "tensor"
vec = 8                         -- rows of a nonzero vector
k   = 256                       -- fixed: a column is 256 bytes of shared memory

order    = "bcrs"               -- C vector after vector; also "srbcrs16", "srbcrs32"
window   = {512, 256, 768}      -- columns
warps    = {16, 24, 12, 20}     -- warps of a thread block
groups   = {4, 2}               -- 16 * groups vectors of a row block are a warp's work
tile_k   = 256                  -- not less than k
staging  = {"async", "tma"}     -- how columns come to shared memory: by threads, or by tensor copies, of sm_90 and later
prefetch = {"off", "on"}        -- load the next vectors' rows of A before these are computed

-- m, n, lda and ldb stay open; lda and ldb must be multiples of 16.
