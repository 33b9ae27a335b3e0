-- SDDMM for int8 where the mask is hardly sparse: dense tiles of A B, of which C takes what the mask has.
-- A list is a set of candidates to tune over; the first of each makes the default kernel.

op  = "sddmm"
lhs = "s8"                      -- A: dense, row-major
rhs = "s8"                      -- B: dense, [n][ldb]: the k values of a column side by side
out = "s32"                     -- C: the mask's vectors
vec = 8                         -- rows of a nonzero vector

method    = "dense"
order     = "bcrs"              -- C vector after vector; also "srbcrs16", "srbcrs32"
tile_rows = {64, 128}           -- rows of A in a thread block's tile
tile_n    = {64, 128}           -- columns of B in it
warps     = {4, 8}              -- warps of a thread block

k = 256                         -- all of k of a tile is in shared memory: 64, 128, 192 ... as far as there is room

-- m, n, lda, ldb stay open. To fix them: mcgen --set m=512 --set n=512 --set lda=256 --set ldb=256 ...
