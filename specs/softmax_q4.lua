-- Softmax over the rows of an SDDMM's C of integers: s32 sums with a scale in, u4 probabilities out, whose 15 stands for 1, two to a byte. A list is a
-- set of candidates to tune over; the first of each makes the default kernel.

op    = "softmax"
lhs   = "s32"                   -- A: the sums of an SDDMM, as of s4 by s4; also f16, bf16 and f32
out   = "u4"                    -- C: also s4, of which 7 stands for 1; the first of two elements in the low half of their byte
scale = "tensor"                -- an f32: what one step of a sum stands for, over the root of the length
c_scale = "none"                -- "tensor": an f32, what one step of C stands for; without it the greatest number is 1
mask  = "pattern"               -- "values": the mask's own values, f32, are added
exp   = "polynomial"            -- the same bits on every GPU; "approx": the hardware's, within a bound, and faster
lse   = "none"                  -- "row": the kernel also writes logarithms of the rows' sums, f32[m]
vec   = 8                       -- rows of a nonzero vector; also 16, 4, 2, and 1 where the order has strides

order = "srbcrs32"              -- also "bcrs", "srbcrs16"
warps = {4, 2, 8, 16}           -- warps of a thread block, which takes a row block
hold  = {4, 2, 8}               -- units of 16 bytes that a thread keeps; a row block that fits is read once

-- m and n stay open. To fix them: mcgen --set m=4096 --set n=4096 ...
