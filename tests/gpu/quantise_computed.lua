-- The tuning space of tests/gpu/quantise.c: scales computed.
op = "quantise" lhs = "f16" out = "s8" scale = "row" scales = "computed"
tile  = {16, 32, 8, 4}
warps = {16, 32, 8}
hold  = {1, 2, 3, 4, 6}
rounding = {"convert", "add"}
keep  = {0, 1, 2, 3, 4, 6}
