-- The gradient of a softmax over the rows of a matrix without vectors (graphs, meshes): f16 in and out, an element for each
-- nonzero in the order of CSR, as softmax_csr_f16 writes them.
-- A list is a set of candidates to tune over; the first of each makes the default kernel.

op    = "softmax_grad"
lhs   = "f16"                   -- P, what the softmax wrote: also f32, bf16
rhs   = "f16"                   -- the gradient of P, in the same order: also f32, bf16
out   = "f16"                   -- the gradient of the softmax's A; also f32, bf16
scale = "tensor"                -- the softmax's scale; "none": there is none
vec   = 1                       -- the matrix has single nonzeros

order = "bcrs"                  -- that of CSR; also "srbcrs32", rows filled up to 32
rows_per_warp = {4, 1, 2, 8}    -- short rows: a warp takes so many, 32 / 4 lanes each; 1: a thread block takes a row
warps = {4, 1, 16}              -- warps of a thread block, all of which take what is longer than lanes * hold
hold  = {4, 1, 16}              -- elements that a thread keeps

-- m and n stay open. To fix them: mcgen --set m=4096 --set n=4096 ...
