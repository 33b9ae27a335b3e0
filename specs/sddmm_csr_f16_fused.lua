-- SDDMM for matrices without vectors (graphs, meshes): C = A[m,k] B[k,n] where the matrix has a nonzero, an element for
-- each of them in the order of CSR. f16, without tensor cores, for short rows; sums are f32.
-- A list is a set of candidates to tune over; the first of each makes the default kernel.

op  = "sddmm"
lhs = "f16"                     -- A: dense, row-major; also bf16, with rhs = "bf16"
rhs = "f16"                     -- B: dense, [n][ldb]: the k values of a column side by side
out = "f16"                     -- C; also bf16, f32, e4m3, e5m2, and with a scale s8, u8
scale = "none"                  -- also "tensor", "row", "column": an f32 for all of C, or for each row or column
mask  = "pattern"               -- "values": C is multiplied by the matrix's own values, f32
vec = 1                         -- the matrix has single nonzeros
method = "csr"                  -- lanes multiply what they load by fused multiply-adds
order  = "bcrs"                 -- that of CSR

tile_k = {128, 32, 64}          -- k in registers at once: so long a row of A stays there from nonzero to nonzero
lanes  = {4, 8, 16}             -- lanes that share a nonzero's k
ahead  = {2, 4}                 -- nonzeros in flight
share  = {16, 8, 32}            -- neighbouring nonzeros of a group of lanes
warps  = 4                      -- warps of a thread block

-- m, n, k, lda, ldb stay open. To fix them: mcgen --set k=64 --set lda=64 --set ldb=64 ...
