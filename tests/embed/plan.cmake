# Contexts, matrices, plans. Those that compute products share product.c. Records and caches of the user's must not matter.
function(embed_test name)
  mc_test(embed_${name} ${name}_test.c mcrt mccache)
  target_sources(test_embed_${name} PRIVATE product.c)
  target_compile_definitions(test_embed_${name} PRIVATE ${embed_specs})
  set_tests_properties(embed_${name} PROPERTIES ENVIRONMENT "HOME=${CMAKE_CURRENT_BINARY_DIR};XDG_CACHE_HOME=;XDG_DATA_HOME=")
endfunction()
embed_test(plan)
embed_test(context)
embed_test(matrix)
embed_test(threads)
embed_test(plan_again)
embed_test(plan_next)

# On the fake driver, with what mc_execute must not call under watch.
embed_test(execute)
target_link_options(test_embed_execute PRIVATE -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=pthread_mutex_lock)
set_property(TEST embed_execute APPEND PROPERTY ENVIRONMENT "LD_LIBRARY_PATH=$<TARGET_FILE_DIR:fake_cuda_fake>")
