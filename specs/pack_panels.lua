-- A matrix without vectors from device memory, packed there in panels: steps that are launched one after another (docs/matrices.md).

op     = "pack_panels"
step   = "rank"                   -- "rank", "count", "sums", "list", "measure", "sums", "deal", "write"
panel  = 8                        -- rows of A that a warp multiplies together; also 16
values = "slots"                  -- which values are packed: one for each row of a panel, or "nonzeros"
