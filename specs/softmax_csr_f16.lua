-- Softmax over the rows of a matrix without vectors (graphs, meshes): f16 in and out, an element for each nonzero in the
-- order of CSR, as sddmm_csr_f16 writes them.
-- A list is a set of candidates to tune over; the first of each makes the default kernel.

op    = "softmax"
lhs   = "f16"                   -- A: also f32, bf16, s32
out   = "f16"                   -- C: in the same order; also f32, bf16, s8, u8, s16, u16
scale = "tensor"                -- an f32 that elements are multiplied by first; "none": there is none
mask  = "pattern"               -- "values": the matrix's own values, f32, are added
exp   = "polynomial"            -- the same bits on every GPU; "approx": the hardware's, within a bound, and faster
lse   = "none"                  -- "row": the kernel also writes logarithms of the rows' sums, f32[m]
vec   = 1                       -- the matrix has single nonzeros

order = "bcrs"                  -- that of CSR; also "srbcrs32", rows filled up to 32, as an SpMM takes given values
rows_per_warp = {4, 1, 2, 8}    -- short rows: a warp takes so many, 32 / 4 lanes each; 1: a thread block takes a row
warps = {4, 1, 16}              -- warps of a thread block, all of which take what is longer than lanes * hold
hold  = {4, 1, 16}              -- elements that a thread keeps

-- m and n stay open. To fix them: mcgen --set m=4096 --set n=4096 ...
