-- A dense matrix in device memory becomes a 2:4 one, values and metadata, in one pass (docs/sparse24.md).

op      = "compress24"
element = "f16"                  -- bf16, e4m3, e5m2, s8, u8; f32: one of two is kept; s4, u4: two of four pairs
mode    = "strict"               -- "prune": the greatest two of each four stay
layout  = "packed24"             -- what gemm24 reads; or "natural", "cutlass-sm80", "cutlass-sm90"
source  = "dense"                -- "pattern": metadata of packed24 alone, out of columns of nonzeros
