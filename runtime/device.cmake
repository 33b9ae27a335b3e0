# Devices, problems, and the program mcrun.
target_sources(mcrt PRIVATE device.c device_sim.c device_cuda.c device_cuda_module.c device_cuda_link.c device_cuda_graph.c driver_build.c cuda_driver.c bind.c run.c spmm_run.c sddmm_run.c)
target_link_libraries(mcrt PRIVATE ${CMAKE_DL_LIBS})

add_executable(mcrun mcrun.c cmd_options.c cmd_problem.c cmd_factors.c cmd_session.c cmd_variants.c cmd_best.c cmd_report.c cmd_counts.c
               cmd_operand.c cmd_spmm.c cmd_sddmm.c cmd_sampled.c cmd_pack.c
               cmd_directory.c cmd_published.c cmd_matrix.c cmd_devices.c cmd_cache.c cmd_records.c
               cmd_tune.c cmd_tune_kind.c cmd_tune_sources.c cmd_tune_progress.c cmd_tune_report.c cmd_tune_stop.c
               cmd_tune_worker.c)
target_link_libraries(mcrun PRIVATE mcrt mccache ptxsim mcgen_jansson mcgen_flags m)

install(TARGETS mcrun)
install(FILES mcrt.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/mcgen)
