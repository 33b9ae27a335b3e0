# The embedded runtime: what mcrt.h declares, file by file in the order of a call (context.h).
target_sources(mcrt PRIVATE
  context.c
  matrix.c
  matrix_make.c
  plan_problem.c
  plan.c
  plan_launch.c
  execute.c
)
