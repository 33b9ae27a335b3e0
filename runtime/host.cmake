# The host side of libmcrt.
target_sources(mcrt PRIVATE
  memory.c type.c random.c ../gen/file.c text_input.c
  csr.c smtx.c mtx.c pattern.c
  dense.c real.c output.c npy.c vsparse.c
  digit.c stride.c strided.c windowed.c windowed_choose.c bcrs.c srbcrs.c order.c sampled.c sampled_window.c sampled_dense.c pack.c
  reference.c reference_sddmm.c)
# Generated matrices are the same on every machine: no contraction of a * b + c (random.h).
set_source_files_properties(random.c pattern.c PROPERTIES COMPILE_OPTIONS -ffp-contract=off)
