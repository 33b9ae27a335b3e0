-- Rows of a matrix without vectors from device memory, dealt out there as csr has them: steps that are launched one after another (docs/matrices.md).

op        = "pack_csr"
step      = "deal"                -- "count", "deal", behind sums of pack_panels; "copy"
segmented = false                 -- short rows are joined by their nonzeros
