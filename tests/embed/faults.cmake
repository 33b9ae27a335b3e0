# What may fail below the library, and who uses it at once. layer: a product that needs no checks of its own.
add_library(embed_layer STATIC layer.c)
target_link_libraries(embed_layer PUBLIC mcrt mcgen_flags)
foreach(part nomem processes storm records locale)
  mc_test(embed_${part} ${part}_test.c embed_layer)
  set_tests_properties(embed/${part} PROPERTIES ENVIRONMENT "HOME=${CMAKE_CURRENT_BINARY_DIR};XDG_CACHE_HOME=;XDG_DATA_HOME=")
endforeach()
set_tests_properties(embed/locale PROPERTIES SKIP_RETURN_CODE 77)
mc_test(embed_tune_nomem tune_nomem_test.c embed_layer)
target_link_libraries(test_embed_nomem PRIVATE mcgen_jansson)
target_link_libraries(test_embed_tune_nomem PRIVATE mcgen_jansson)
foreach(function malloc calloc realloc aligned_alloc strdup strndup asprintf vasprintf)
  target_link_options(test_embed_nomem PRIVATE -Wl,--wrap=${function})
  target_link_options(test_embed_tune_nomem PRIVATE -Wl,--wrap=${function})
endforeach()

# Files of records, as the cache's own.
mc_test(embed_record_faults record_faults_test.c mcrt cache_bed m)
set_tests_properties(embed/record_faults PROPERTIES SKIP_RETURN_CODE 77)
