# The embedded runtime: what mcrt.h declares, file by file in the order of a call (context.h).
target_sources(mcrt PRIVATE
  context.c
  kernels.c
  kernels_make.c
  matrix.c
  matrix_make.c
  plan_problem.c
  plan.c
  plan_launch.c
  execute.c
  spec_sources.c fits.c candidates.c choose.c choice_cache.c
  fields.c record_json.c record_problem.c record_line.c record_near.c record_merge.c record_file.c record_store.c record_share.c record_shipped.c records.c
  tune.c tune_pick.c tune_progress.c tune_record.c
  tune_measure.c tune_compile.c tune_operands.c tune_reference.c tune_slab.c tune_pool.c tune_verify.c tune_time.c tune_rounds.c
  tune_job.c tune_line.c tune_process.c tune_worker.c tune_worker_main.c
)

# What mcrun tune measured is shipped: the library has every file of records/ in it.
mcgen_embed(${CMAKE_CURRENT_BINARY_DIR}/record_files.inc ${PROJECT_SOURCE_DIR}/records *.jsonl)
target_sources(mcrt PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/record_files.inc)
target_include_directories(mcrt PRIVATE ${CMAKE_CURRENT_BINARY_DIR})
