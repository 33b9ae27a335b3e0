-- SpMM for matrices without vectors, as they come in CSR: C[m,n] = A[m,k] B[k,n], f32, without tensor cores.
-- A list is a set of candidates to tune over; the first of each makes the default kernel.

op  = "spmm"
lhs = "f32"                     -- A: values of the nonzeros; tf32, f16 and bf16 with the same on both sides
rhs = "f32"                     -- B: dense, row-major
out = "f32"                     -- C: dense, row-major; also f16, bf16
scale = "none"                  -- alpha: "tensor", an f32; also "row", "column"
vec = 1                         -- A has single nonzeros
staging = "csr"                 -- A is read as it is; lanes multiply what they load of B

tile_n = {32, 64, 128, 8}       -- columns of C a thread block; of one: spmm_csr_f32_vector
lanes  = {1, 2, 4, 8}           -- lanes that share a row's nonzeros
ahead  = {4, 8, 2}              -- nonzeros that a lane has in flight
warps  = 4                      -- warps of a thread block
share  = 2                      -- strides of 32 nonzeros: longer rows are dealt out

-- m, n, k, ldb, ldc stay open: they are kernel parameters. To fix them: mcgen --set n=256 --set ldb=256 ...
