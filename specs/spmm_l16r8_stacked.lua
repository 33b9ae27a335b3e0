-- SpMM for int16 weights pruned in 4x1 vectors, int8 right side, with stacked digits, dequantised to f16: C[m,n] = f16(f32(A[m,k] B[k,n]) * scale[m]).
-- Vectors of 4 rows leave half of an mma's columns empty. There the second digit of A's values has room, so that one mma does what takes
-- two otherwise (Magicube, figure 10b). All values in an mma have a sign, or none has: the digits are balanced, both from -128 to 127.
-- Values above 32639 have no such digits: packing refuses them, and names the first. docs/precisions.md: digits and stacking.

op  = "spmm"
lhs = "s16"                     -- A: values of the nonzero vectors; also s12, all of whose values have such digits
rhs = "s8"                      -- B: dense, row-major; also u8
out = "f16"                     -- C: dense, row-major; also bf16, f32, s32 (without a scale)
scale = "row"                   -- an f32 for each row of C; also "tensor", "column"
vec = 4                         -- rows of a nonzero vector; also 2, and 8, which leaves no room to stack

digits   = "balanced"           -- for vec = 2 also "offset", which holds every value
stacking = {true, false}        -- false: the same digits, an mma for each

tile_n = {64, 128}              -- columns of C a thread block
stride = {32, 64}               -- nonzero vectors a warp takes at a time
warps  = {4, 2, 8}              -- warps of a thread block
split  = {1, 2, 4}              -- warps that share one row block

-- m, n, k, ldb, ldc stay open: they are kernel parameters. To fix them: mcgen --set n=256 --set ldb=256 ...
