-- SDDMM for matrices without vectors (graphs, meshes): C = A[m,k] B[k,n] where the matrix has a nonzero, an element for
-- each of them in the order of CSR. Products of f16, sums in f32.
-- A list is a set of candidates to tune over; the first of each makes the default kernel.

op  = "sddmm"
lhs = "f16"                     -- A: dense, row-major; with the same rhs also bf16, tf32; e4m3 and e5m2 with either
rhs = "f16"                     -- B: dense, [n][ldb]: the k values of a column side by side
out = "f16"                     -- C; also bf16, f32, e4m3, e5m2, and with a scale s8, u8
scale = "none"                  -- also "tensor", "row", "column": an f32 for all of C, or for each row or column
mask  = "pattern"               -- "values": C is multiplied by the matrix's own values, f32
vec = 1                         -- the matrix has single nonzeros

order    = "bcrs"               -- that of CSR; also "srbcrs32", rows filled up to 32, as an SpMM takes given values
groups   = {1, 2}               -- 16 * groups nonzeros of a row are a warp's work
warps    = {4, 2, 8, 1}         -- warps of a thread block
tile_k   = {128, 64, 256}       -- k in registers at once; tf32 takes up to 128
prefetch = {"on", "off"}        -- load the next 16 columns of B before this group's mma

-- m, n, k, lda, ldb stay open. To fix them: mcgen --set k=64 --set lda=64 --set ldb=64 ...
