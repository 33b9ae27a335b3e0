# Compiler settings that every target of the project shares, and the libraries that applications link with.

add_library(mcgen_flags INTERFACE)
target_compile_definitions(mcgen_flags INTERFACE _GNU_SOURCE)
target_compile_options(mcgen_flags INTERFACE -Wall -Wextra -Wshadow -Wconversion
                       $<$<BOOL:${MCGEN_WERROR}>:-Werror>)
if(MCGEN_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -g)
  add_link_options(-fsanitize=address,undefined)
endif()
if(MCGEN_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -g)
  add_link_options(-fsanitize=address,undefined)
endif()

include(${CMAKE_CURRENT_LIST_DIR}/dependencies.cmake)

# mcgen_library(NAME SOVERSION OF STATIC... HEADERS FILE... [EXPORTS MAP] [NEEDS NAME...] [LINKS FLAG...]): lib<NAME>.so and lib<NAME>.a for
# applications, of the objects of our static libraries, which are for programs and tests. Both have the functions that the version script MAP names
# (without one those of default visibility), and no other name that could meet one of the application's. They are mcrt::NAME and mcrt::NAME_static,
# here and for find_package. NEEDS are libraries of dependencies.cmake, LINKS what the system has.
function(mcgen_library name soversion)
  cmake_parse_arguments(arg "" "EXPORTS" "OF;HEADERS;NEEDS;LINKS" ${ARGN})
  list(TRANSFORM arg_OF REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE objects)
  list(TRANSFORM arg_NEEDS REPLACE "(.+)" "mcgen_\\1_shared" OUTPUT_VARIABLE needs)
  add_library(${name}_shared SHARED ${objects})
  add_library(mcrt::${name} ALIAS ${name}_shared)
  set_target_properties(${name}_shared PROPERTIES OUTPUT_NAME ${name} EXPORT_NAME ${name} SOVERSION ${soversion} LINKER_LANGUAGE C)
  target_link_libraries(${name}_shared PRIVATE ${needs} ${arg_LINKS} m)

  # Applications see the headers as they are installed, and none of the project's own. libmcrt's are among the generator's.
  set(folder ${CMAKE_INSTALL_INCLUDEDIR}/mcgen)
  set(local ${PROJECT_BINARY_DIR}/include/mcgen)
  if(name STREQUAL ptxsim)
    set(folder ${CMAKE_INSTALL_INCLUDEDIR})
    set(local ${PROJECT_BINARY_DIR}/include)
  endif()
  foreach(header IN LISTS arg_HEADERS)
    configure_file(${header} ${local}/${header} COPYONLY)
  endforeach()
  target_include_directories(${name}_shared INTERFACE $<BUILD_INTERFACE:${local}> $<INSTALL_INTERFACE:${folder}>)

  set(map -)
  if(arg_EXPORTS)
    set(map ${CMAKE_CURRENT_SOURCE_DIR}/${arg_EXPORTS})
    target_link_options(${name}_shared PRIVATE LINKER:--version-script=${map})
    set_target_properties(${name}_shared PROPERTIES LINK_DEPENDS ${map})
  endif()
  if(MCGEN_INSTALL)
    install(TARGETS ${name}_shared EXPORT mcrtTargets LIBRARY COMPONENT runtime NAMELINK_COMPONENT development)
    install(FILES ${arg_HEADERS} DESTINATION ${folder} COMPONENT development)
  endif()

  # What a program that takes the archive links with besides.
  set(flags "")
  set(bundled "")
  foreach(need IN LISTS arg_NEEDS)
    list(APPEND flags ${MCGEN_FLAG_${need}})
    list(APPEND bundled ${MCGEN_BUNDLED_${need}})
  endforeach()
  list(APPEND flags -lm)
  foreach(link IN LISTS arg_LINKS)
    if(link STREQUAL Threads::Threads)
      list(APPEND flags -pthread)
    else()
      list(APPEND flags -l${link})
    endif()
  endforeach()
  list(JOIN flags " " flags_text)
  set(MCGEN_LINKS_${name} ${flags_text} PARENT_SCOPE)
  if(NOT MCGEN_STATIC)
    return()
  endif()
  set(archive ${CMAKE_CURRENT_BINARY_DIR}/static/lib${name}.a)
  set(script ${PROJECT_SOURCE_DIR}/cmake/archive.sh)
  set(all "")
  if(MCGEN_INSTALL)
    set(all ALL)
    install(FILES ${archive} DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
  endif()
  file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/static)
  add_custom_command(OUTPUT ${archive} DEPENDS ${objects} ${arg_EXPORTS} ${bundled} ${script} COMMAND_EXPAND_LISTS VERBATIM
    COMMAND ${script} ${CMAKE_LINKER} ${CMAKE_OBJCOPY} ${CMAKE_AR} ${archive} ${map} ${objects} ${bundled})
  add_custom_target(${name}_static ${all} DEPENDS ${archive})
  add_library(${name}_archive STATIC IMPORTED GLOBAL)
  add_library(mcrt::${name}_static ALIAS ${name}_archive)
  add_dependencies(${name}_archive ${name}_static)
  set_target_properties(${name}_archive PROPERTIES IMPORTED_LOCATION ${archive} INTERFACE_INCLUDE_DIRECTORIES ${local}
                        INTERFACE_LINK_LIBRARIES "${flags}")
  set_property(GLOBAL APPEND_STRING PROPERTY MCGEN_ARCHIVES "mcrt_add_archive(${name} ${folder} \"${flags}\")\n")
endfunction()

# Keeps OUTPUT, rows of C's (embed.cmake), true to the files of FOLDER whose names match PATTERN; a target lists OUTPUT in its sources.
function(mcgen_embed output folder pattern)
  file(GLOB files CONFIGURE_DEPENDS ${folder}/${pattern})
  string(SHA256 which "${files}") # a file that is gone makes no other one newer: the command must change
  add_custom_command(OUTPUT ${output} DEPENDS ${files} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake VERBATIM
    COMMAND ${CMAKE_COMMAND} -D FOLDER=${folder} -D PATTERN=${pattern} -D OUTPUT=${output} -D WHICH=${which}
            -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake)
endfunction()
