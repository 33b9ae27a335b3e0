-- The tuning space of tests/gpu/quantise.c: scales a token computed, by clusters that share rows.
op = "quantise" lhs = "f16" out = "s8" scale = "row" scales = "computed"
tile  = {32, 64, 16, 8, 4}
warps = {16, 32, 8}
hold  = {1, 2}
keep  = {2, 1, 0, 3, 4, 6, 8}
words = {1, 2}
rounding = "add"
cluster = {4, 2, 8}
