-- Products of a matrix without vectors by a vector: y[m] = A[m,k] x[k], f32, without tensor cores (n = 1).
-- A list is a set of candidates to tune over; the first of each makes the default kernel.

op  = "spmm"
lhs = "f32"                     -- A: values of the nonzeros; f16 and bf16 with the same on both sides
rhs = "f32"                     -- B: x, a column; rows of ldb elements, of which one is taken
out = "f32"                     -- C: y, likewise; also f16, bf16
scale = "none"                  -- alpha: "tensor", an f32; also "row", "column"
vec = 1                         -- A has single nonzeros
staging = "csr"                 -- lanes multiply what they load of x
stream = true                   -- a warp takes the nonzeros of neighbouring rows side by side
tile_n = 1

share = {8, 4, 16, 2}           -- strides of 32 nonzeros of a warp; longer rows are shared by warps
ahead = {8, 4}                  -- elements of x that a lane asks for at once
warps = {4, 8, 2}               -- warps of a thread block
columns = {"s32", "u16", "sorted"} -- u16: where those of a warp are less than 65536 apart; sorted: at random

-- m, k, ldb, ldc stay open: they are kernel parameters. n may be anything; each column is a product of its own.
