-- SDDMM for matrices without vectors whose rows share columns (meshes, blocks, bands): C = A[m,k] B[k,n] where the matrix
-- has a nonzero, an element for each of them in the order of CSR. f16 x f16 on tensor cores, sums in f32.
-- A list is a set of candidates to tune over; the first of each makes the default kernel.

op  = "sddmm"
lhs = "f16"                     -- A: dense, row-major; with the same rhs also bf16, tf32; e4m3 and e5m2 with either
rhs = "f16"                     -- B: dense, [n][ldb]: the k values of a column side by side
out = "f16"                     -- C; also bf16, f32, e4m3, e5m2, and with a scale s8, u8
scale = "none"                  -- also "tensor", "row", "column": an f32 for all of C, or for each row or column
mask  = "pattern"               -- "values": C is multiplied by the matrix's own values, f32
vec = 1                         -- the matrix has single nonzeros
method = "panels"               -- rows are joined
order  = "bcrs"                 -- that of CSR

panel  = {8, 16}                -- rows that are joined
tile_k = {128, 64, 32}          -- k in registers at once: so long rows of A stay there from stride to stride
ahead  = {4, 2}                 -- 8 * ahead columns of B in flight
share  = {32, 64, 128}          -- active columns of a panel that are a warp's work
warps  = {4, 8, 2}              -- warps of a thread block

-- m, n, k, lda, ldb stay open. To fix them: mcgen --set k=64 --set lda=64 --set ldb=64 ...
