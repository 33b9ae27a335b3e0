-- Dense product of bf16: C[m,n] = A[m,k] B[k,n], sums in f32. For Hopper, by asynchronous tensor cores.
-- Tiles that are too few for one more turn of all multiprocessors are dealt out along k (stream-k), up to five eighths of a turn.
-- A list is a set of candidates to tune over; the first of each makes the default kernel.

op   = "gemm"
arch = "sm_90a"
lhs  = "bf16"                   -- A: row-major
rhs  = "bf16"                   -- B: [n][ldb], the k values of a column side by side
out  = "bf16"                   -- C: row-major; also f16, f32, e4m3, e5m2, and with a scale s8, u8, s4, u4
scale = "none"                  -- also "tensor", "row", "column": an f32 for all of C, or for each of its rows or columns
bias  = "none"                  -- also "row", "column"

tile_m = {128, 256, 64}         -- rows of C a thread block
tile_n = {256, 128, 192}        -- columns of C a thread block
stages = {4, 3}                 -- tiles of A and B in shared memory
consumers = 2                   -- warpgroups that multiply
turns = {"off", "on"}           -- consumers share a tile, or take whole tiles, or pieces, in turn
stream = "on"                   -- parts of a tile are added up through a workspace
store = {"tensor", "pairs"}     -- how C is written: by tensor copies, or two elements at a time; also "single"

-- m, n, k, lda, ldb, ldc stay open: they are kernel parameters. To fix them: mcgen --set k=4096 ...
