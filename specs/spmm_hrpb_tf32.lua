-- cuTeSpMM's kernel for matrices without vectors: C[m,n] = A[m,k] B[k,n], products of tf32, sums in f32.
-- A list is a set of candidates to tune over; the first of each makes the default kernel, which is the paper's.

op  = "spmm"
lhs = "tf32"                    -- A: values of the nonzeros, rounded to tf32
rhs = "tf32"                    -- B: dense, row-major; rounded when it is read
out = "f32"                     -- C: dense, row-major; also f16, bf16
scale = "none"                  -- alpha: "tensor", an f32; also "row", "column"
vec = 1                         -- A has single nonzeros
staging = "hrpb"                -- A in bricks of 16 x 4; blocks of it and their rows of B go through shared memory

panel_rows = {16, 32}           -- TM: rows of a panel
block_cols = {16, 8, 32}        -- TK: active columns of a block
tile_n     = {128, 32}          -- columns of C a thread block
warps      = {4, 2, 8}          -- warps of a thread block; each has tile_n / warps columns, the paper's TN
waves      = {1, 4}             -- panels of more blocks than so many times the mean are cut

-- m, n, k, ldb, ldc stay open: they are kernel parameters. To fix them: mcgen --set n=256 --set ldb=256 ...
