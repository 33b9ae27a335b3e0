-- The tuning space of tests/gpu/quantise.c: scales computed.
op = "quantise" lhs = "f16" out = "s8" scale = "row" scales = "computed"
tile  = {32, 16, 8, 4}
warps = {32, 16, 8}
hold  = {1, 2, 4}
keep  = {2, 0, 1, 3, 6}
words = {2, 1}
rounding = {"add", "convert"}
share = {"open", 256, 512, 1024, 5504}
