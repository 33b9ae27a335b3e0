-- Softmax over the rows of an SDDMM's C: f16 in and out, in C's own order, so that an SpMM may have its values.
-- A list is a set of candidates to tune over; the first of each makes the default kernel.

op    = "softmax"
lhs   = "f16"                   -- A: values of the nonzero vectors; also f32, bf16, s32
out   = "f16"                   -- C: in the same order; also f32, bf16, s8, u8, s16, u16
scale = "tensor"                -- an f32 that values are multiplied by first; "none": there is none
mask  = "pattern"               -- "values": the mask's own values, f32, are added
exp   = "polynomial"            -- the same bits on every GPU; "approx": the hardware's, within a bound, and faster
lse   = "none"                  -- "row": the kernel also writes logarithms of the rows' sums, f32[m]
vec   = 8                       -- rows of a nonzero vector; also 16, 4, 2, 1

order = "bcrs"                  -- also "srbcrs16", "srbcrs32": as the SDDMM has it
warps = {4, 2, 1, 8, 16}        -- warps of a thread block, which takes a row block
hold  = {4, 2, 1, 8, 16}        -- units that a thread keeps; a row block that fits is read once
unit  = {16, 8}                 -- bytes of A that a lane loads at once; also 4
exchange = {"twice", "once"}    -- of an exp = "approx" without lse: greatest elements and sums, or sums alone, within a wider bound

-- m and n stay open. To fix them: mcgen --set m=4096 --set n=4096 ...
