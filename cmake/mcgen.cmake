# Compiler settings that every target of the project shares, and the libraries that it finds.

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

# mcgen_NAME: a static library is preferred, since mcgen starts faster then, and a binary built here runs on a machine without Lua. Our shared
# libraries take shared ones, mcgen_NAME_shared: Debian's static ones are not position-independent.
function(mcgen_find_library name header static shared)
  find_library(MCGEN_${name}_LIBRARY NAMES ${static} ${shared} REQUIRED)
  find_library(MCGEN_${name}_SHARED NAMES ${shared} REQUIRED)
  find_path(MCGEN_${name}_INCLUDE NAMES ${header} PATH_SUFFIXES lua5.4 REQUIRED)
  add_library(mcgen_${name} INTERFACE)
  target_link_libraries(mcgen_${name} INTERFACE ${MCGEN_${name}_LIBRARY})
  target_include_directories(mcgen_${name} SYSTEM INTERFACE ${MCGEN_${name}_INCLUDE})
  add_library(mcgen_${name}_shared INTERFACE)
  target_link_libraries(mcgen_${name}_shared INTERFACE ${MCGEN_${name}_SHARED})
endfunction()

# mcgen_library(NAME SOVERSION OF STATIC... [EXPORTS MAP] [NEEDS LIBRARY...]): lib<NAME>.so and lib<NAME>.a for applications, of the objects of our
# static libraries, which are for programs and tests. Both have the functions that the version script MAP names (without one those of default
# visibility), and no other name that could meet one of the application's.
function(mcgen_library name soversion)
  cmake_parse_arguments(arg "" "EXPORTS" "OF;NEEDS" ${ARGN})
  list(TRANSFORM arg_OF REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE objects)
  add_library(${name}_shared SHARED ${objects})
  set_target_properties(${name}_shared PROPERTIES OUTPUT_NAME ${name} SOVERSION ${soversion} LINKER_LANGUAGE C)
  target_link_libraries(${name}_shared PRIVATE ${arg_NEEDS} m)
  install(TARGETS ${name}_shared)

  set(map -)
  if(arg_EXPORTS)
    set(map ${CMAKE_CURRENT_SOURCE_DIR}/${arg_EXPORTS})
    target_link_options(${name}_shared PRIVATE LINKER:--version-script=${map})
    set_target_properties(${name}_shared PROPERTIES LINK_DEPENDS ${map})
  endif()
  set(archive ${CMAKE_CURRENT_BINARY_DIR}/static/lib${name}.a)
  set(script ${PROJECT_SOURCE_DIR}/cmake/archive.sh)
  file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/static)
  add_custom_command(OUTPUT ${archive} DEPENDS ${objects} ${arg_EXPORTS} ${script} COMMAND_EXPAND_LISTS VERBATIM
    COMMAND ${script} ${CMAKE_LINKER} ${CMAKE_OBJCOPY} ${CMAKE_AR} ${archive} ${map} ${objects})
  add_custom_target(${name}_static ALL DEPENDS ${archive})
  install(FILES ${archive} DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()

# mcgen_pkg_config(NAME DESCRIPTION FLAGS): FLAGS are for those who link with the static library (--static). As Requires.private the libraries among
# them would be looked for by who takes the shared one, too, whose header needs none of theirs.
function(mcgen_pkg_config name description private)
  file(RELATIVE_PATH up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  configure_file(cmake/library.pc.in ${name}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
mcgen_find_library(lua lua.h liblua5.4.a lua5.4)
mcgen_find_library(jansson jansson.h libjansson.a jansson)
mcgen_find_library(xxhash xxhash.h libxxhash.a xxhash)
mcgen_find_library(b2 blake2.h libb2.a b2)
target_link_libraries(mcgen_lua INTERFACE m dl)

# Keeps OUTPUT, rows of C's (embed.cmake), true to the files of FOLDER whose names match PATTERN; a target lists OUTPUT in its sources.
function(mcgen_embed output folder pattern)
  file(GLOB files CONFIGURE_DEPENDS ${folder}/${pattern})
  string(SHA256 which "${files}") # a file that is gone makes no other one newer: the command must change
  add_custom_command(OUTPUT ${output} DEPENDS ${files} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake VERBATIM
    COMMAND ${CMAKE_COMMAND} -D FOLDER=${folder} -D PATTERN=${pattern} -D OUTPUT=${output} -D WHICH=${which}
            -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake)
endfunction()
