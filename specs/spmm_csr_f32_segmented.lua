-- SpMM for graphs, whose rows are short: C[m,n] = A[m,k] B[k,n], f32, without tensor cores, n from 32 on.
-- A list is a set of candidates to tune over; the first of each makes the default kernel.

op  = "spmm"
lhs = "f32"                     -- A: values of the nonzeros; tf32, f16 and bf16 with the same on both sides
rhs = "f32"                     -- B: dense, row-major
out = "f32"                     -- C: dense, row-major; also f16, bf16
scale = "none"                  -- alpha: "tensor", an f32; also "row", "column"
vec = 1                         -- A has single nonzeros
staging = "csr"                 -- A is read as it is; lanes multiply what they load of B
segmented = true                -- a warp walks through the nonzeros of neighbouring rows as one sequence
lanes = 1

tile_n = {64, 128, 32, 256}     -- columns of C a thread block
ahead  = {4, 8, 2}              -- nonzeros whose rows of B are in flight
share  = {2, 1}                 -- strides of 32 nonzeros that a warp takes; longer rows are dealt out
warps  = 4                      -- warps of a thread block

-- m, n, k, ldb, ldc stay open: they are kernel parameters. To fix them: mcgen --set n=256 --set ldb=256 ...
