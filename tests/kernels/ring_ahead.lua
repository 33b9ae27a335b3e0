-- Variants of the ring kernel for tests that ask for strides of A ahead: small rings, queues that go around.
op, arch, lhs, rhs, out, vec = "spmm", "sm_90", "s8", "s8", "s32", 8
staging = "tma"
tile_n  = {64, 32}
warps   = {4, 1, 16}
window  = {64, 256}
split   = {1, 2}
stages  = {3, 2}
resident = {"off", "on"}
overlap = {"on", "off"}
depth   = {4, 8, 16, 2}
prefetch_l2 = {"on", "off"}
