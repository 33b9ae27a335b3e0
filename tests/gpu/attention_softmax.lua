-- For attention.c: the softmax between.
op, lhs, out, scale, vec, order = "softmax", "f16", "f16", "tensor", 8, "srbcrs32"
warps = {4, 2, 1, 8}
hold  = {4, 2, 1, 8}
unit  = {16, 8}
