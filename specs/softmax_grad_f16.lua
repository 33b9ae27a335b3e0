-- The gradient of a softmax's scores: of the P that it wrote and of P's gradient, which an SDDMM writes, all in f16 and in one order.
-- A list is a set of candidates to tune over; the first of each makes the default kernel.

op    = "softmax_grad"
lhs   = "f16"                   -- P: also f32, bf16
rhs   = "f16"                   -- its gradient: also f32, bf16
out   = "f16"                   -- C, the gradient of the scores: also f32, bf16
scale = "tensor"                -- an f32 that C is multiplied by, the softmax's scale; "none": there is none
vec   = 8                       -- rows of a nonzero vector; also 16, 4, 2, 1

order = "bcrs"                  -- also "srbcrs16", "srbcrs32": as the softmax has it
warps = {4, 2, 1, 8, 16}        -- warps of a thread block, which takes a row block
hold  = {4, 2, 1, 8}            -- units that a thread keeps; a row block that fits is read once
unit  = {16, 8}                 -- bytes of P that a lane loads at once; also 4

-- m and n stay open. To fix them: mcgen --set m=4096 --set n=4096 ...
