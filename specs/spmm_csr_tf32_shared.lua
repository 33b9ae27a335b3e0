-- SpMM for matrices without vectors (graphs, meshes): C[m,n] = A[m,k] B[k,n], products of tf32, sums in f32.
-- A list is a set of candidates to tune over; the first of each makes the default kernel.

op  = "spmm"
lhs = "tf32"                    -- A: values of the nonzeros, rounded to tf32
rhs = "tf32"                    -- B: dense, row-major; rounded when it is read
out = "f32"                     -- C: dense, row-major; also f16, bf16
scale = "none"                  -- alpha: "tensor", an f32; also "row", "column"
vec = 1                         -- A has single nonzeros
staging = "shared"              -- rows of B go through shared memory: eight lanes copy 128 bytes of one

panel  = {8, 16}                -- rows of A that a warp multiplies together
tile_n = 32                     -- columns of C a thread block
warps  = {4, 8, 2}              -- warps of a thread block
values = {"nonzeros", "slots"}  -- which values are packed: those that are there, or one for each row of a panel
share  = {4, 2, 8}              -- strides of 32 columns that a warp takes of a panel, before others share it

-- m, n, k, ldb, ldc stay open: they are kernel parameters. To fix them: mcgen --set n=256 --set ldb=256 ...
