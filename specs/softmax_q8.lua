-- Softmax over the rows of an SDDMM's C of integers: s32 sums with a scale in, u8 probabilities out, whose 255 stands for 1. An SpMM with given values
-- (u8, order srbcrs32) reads them as they are. A list is a set of candidates to tune over; the first of each makes the default kernel.

op    = "softmax"
lhs   = "s32"                   -- A: the sums of an SDDMM; f16, bf16 and f32 are already scaled there
out   = "u8"                    -- C: also s8, s16, u16, as Magicube's 16-8 wants them
scale = "tensor"                -- an f32: what one step of a sum stands for, over the root of the length
c_scale = "none"                -- "tensor": an f32, what one step of C stands for; without it the greatest number is 1
mask  = "pattern"               -- "values": the mask's own values, f32, are added
exp   = "polynomial"            -- the same bits on every GPU; "approx": the hardware's, within a bound, and faster
lse   = "none"                  -- "row": the kernel also writes logarithms of the rows' sums, f32[m]
vec   = 8                       -- rows of a nonzero vector; also 16, 4, 2, 1

order = "srbcrs32"              -- also "bcrs", "srbcrs16"
warps = {4, 2, 8, 16}           -- warps of a thread block, which takes a row block
hold  = {4, 2, 8}               -- units of 16 bytes that a thread keeps; a row block that fits is read once

-- m and n stay open. To fix them: mcgen --set m=4096 --set n=4096 ...
