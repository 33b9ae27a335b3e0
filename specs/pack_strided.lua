-- A matrix from device memory, packed there: which column and which vector each slot of strided-bcrs holds (docs/matrices.md).

op    = "pack_strided"
index = "plain"                  -- where columns stand; "shuffled" for 4-bit mma
ones  = "none"                   -- with digits offset a row of ones: "bytes", or "halves" for 4-bit mma
group = 32                       -- slots after which packed values are laid out alike
hold  = {4, 2, 1, 8}             -- slots that a thread takes at once
