-- A step of SGD with momentum, in place, on the vectors of a pruned weight, or any array: docs/optimise.md.
-- A list is a set of candidates to tune over; the first of each makes the default kernel.

op     = "optimise"
rule   = "sgd"                  -- "nesterov": with Nesterov's momentum; Adam is optimise_adam.lua
lhs    = "f16"                  -- the gradient; also bf16, f32
out    = "f16"                  -- the weight; also bf16, f32
master = "off"                  -- "on": the step is done on a copy in f32, which the weight is rounded of

unit   = {4, 8}                 -- neighbouring elements that a thread takes at once
hold   = {2, 4, 1}              -- units that it asks for at a time
warps  = {8, 16, 4}             -- warps of a thread block
blocks = {4, 3, 2, 6, 8, 1}     -- thread blocks for each multiprocessor

-- m and n stay open. To fix them: mcgen --set m=4096 --set n=4096 ...
