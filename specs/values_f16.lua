-- New values on the device: f16 values of nonzero vectors become those that the gather SpMM of spmm_f16.lua reads, in place.
-- mc_matrix_set_device_values launches such a kernel for each packed form of a matrix (docs/values.md).

op     = "values"
lhs    = "f16"                  -- type of the source's elements
unit   = "element"              -- floats as they are; "rounded": tf32; integers in digits: "byte", "half"
from   = "vectors"              -- vec elements for each nonzero vector; or "rows", "columns": the dense matrix
vec    = 8                      -- rows of a nonzero vector
group  = 32                     -- slots after which packed values are laid out alike
hold   = {4, 2, 1, 8}           -- groups that a thread takes at once
