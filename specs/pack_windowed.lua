-- A pattern on the device becomes the packed arrays of the ring SpMM of spmm_f16_tiled.lua: two kernels, between which the runtime
-- makes sums of counts (docs/pack_windowed.md).

op      = "pack_windowed"
task    = "choose"              -- which vectors share a stride; "place": the arrays of what was chosen
