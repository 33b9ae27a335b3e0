-- The tuning space of tests/gpu/quantise.c: given scales.
op = "quantise" lhs = "f16" out = "s8" scale = "row" scales = "given"
tile  = {64, 128, 32, 16}
warps = {4, 8, 2, 16}
hold  = {1, 2, 4}
