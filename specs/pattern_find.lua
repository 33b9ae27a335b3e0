-- A matrix from device memory: which columns of each row block of a dense f16 matrix have a nonzero vector.
-- mc_matrix_from_device_dense launches it, and the family's other steps after it (docs/matrices.md).

op      = "pattern"
step    = "find"                 -- or "list", "columns", "number", "places": what comes afterwards
element = "f16"                  -- minus zero is 0; of a mask "b8"
major   = "row"                  -- row-major; or "column"
vec     = 8                      -- rows of a nonzero vector
hold    = {4, 2, 1}              -- columns that a thread asks for at once
