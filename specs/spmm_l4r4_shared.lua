-- SpMM for 4-bit weights pruned in 8x1 vectors as in the Magicube paper: rows of B go through shared memory, and 4-bit mma
-- multiply them. Elsewhere than on sm_80, sm_86 and sm_89 ptxas makes several instructions of one such mma.
-- spmm_l4r4.lua leaves that way out; this spec is there to see what each of the paper's ideas brings (docs/precisions.md):
--   --set padding=off|on       reads of shared memory that meet in the same banks, or not (section IV-B2, figure 4)
--   --set prefetch=off|on      the next stride's rows are under way while this one's are multiplied (Algorithm 1), or not
--   --set shuffle=off|on       4-bit values are put in order by instructions, or by the order of indices (IV-B3, figure 7)
--   --set order=swapped|paper  A's vectors are columns of the mma, or its rows (figure 6)

op  = "spmm"
lhs = "s4"                      -- A: values of the nonzero vectors, a digit of 4 bits
rhs = "s4"                      -- B: two columns a byte, the even one in its low half
out = "s32"                     -- C: dense, row-major
vec = 8                         -- rows of a nonzero vector

staging  = "shared"             -- each warp copies a stride's rows of B to shared memory and reads them back
padding  = "on"                 -- 32 bytes behind the rows of each 8 vectors
mma      = "int4"
shuffle  = "on"

tile_n   = {128, 64}            -- columns of C a thread block
stride   = {64, 32}             -- nonzero vectors a warp takes at a time, and so does an mma
warps    = {4, 1, 2, 8}         -- warps of a thread block
split    = {4, 1, 2, 8}         -- warps that share one row block
prefetch = {"on", "off"}

-- m, n, k, ldb, ldc stay open: they are kernel parameters. To fix them: mcgen --set n=256 --set ldb=256 ...
