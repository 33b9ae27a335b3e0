-- The tuning space of tests/gpu/quantise.c: one scale, computed.
op = "quantise" lhs = "f16" out = "s8" scale = "tensor" scales = "computed"
tile  = {64, 128, 32}
warps = {4, 8, 2, 16}
hold  = {1, 2, 4}
