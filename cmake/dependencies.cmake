# The libraries that the project finds: Lua 5.4, jansson, xxHash, BLAKE2 (libb2) and zlib. All that are missing are told at once.
#
#   mcgen_NAME          for our programs and tests. An archive is preferred: a program then starts faster, and runs where there is no Lua.
#                       Of zlib it is the shared library: every system has it, and Debian's lintian refuses programs with a copy inside.
#   mcgen_NAME_shared   for our shared libraries: the shared library, since Debian's archives are not position-independent. With
#                       MCGEN_BUNDLE_DEPENDENCIES the archive, which is checked to be.
#   MCGEN_FLAG_NAME     what those who link with our archives add: "-llua5.4"; empty where it is bundled
#   MCGEN_BUNDLED_NAME  the archive where it is bundled

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

set(MCGEN_MISSING "")
set(MCGEN_MISSING_DEBIAN "")
set(MCGEN_MISSING_FEDORA "")
set(MCGEN_NOT_POSITION_INDEPENDENT "")

# Whether a shared library can be made of ARCHIVE.
function(mcgen_check_archive archive result)
  string(MAKE_C_IDENTIFIER "MCGEN_PIC_${archive}" checked)
  if(NOT DEFINED ${checked})
    set(probe ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/mcgen_probe.c)
    file(WRITE ${probe} "int mcgen_probe(void);\nint mcgen_probe(void) { return 0; }\n")
    try_compile(${checked} ${CMAKE_CURRENT_BINARY_DIR} SOURCES ${probe} COMPILE_DEFINITIONS -fPIC
                LINK_OPTIONS -shared LINK_LIBRARIES -Wl,--whole-archive ${archive} -Wl,--no-whole-archive)
  endif()
  set(${result} ${${checked}} PARENT_SCOPE)
endfunction()

# mcgen_find_library(NAME TITLE HEADER DEBIAN FEDORA LIBRARY...): LIBRARY... are the names that distributions give it, without lib and ending.
function(mcgen_find_library name title header debian fedora)
  list(TRANSFORM ARGN REPLACE "(.+)" "lib\\1.a" OUTPUT_VARIABLE archives)
  find_library(MCGEN_${name}_ARCHIVE NAMES ${archives})
  find_library(MCGEN_${name}_SHARED NAMES ${ARGN})
  find_path(MCGEN_${name}_INCLUDE NAMES ${header} PATH_SUFFIXES lua5.4 lua-5.4 lua54)
  mark_as_advanced(MCGEN_${name}_ARCHIVE MCGEN_${name}_SHARED MCGEN_${name}_INCLUDE)
  set(library ${MCGEN_${name}_ARCHIVE})
  if(NOT library OR (name STREQUAL zlib AND MCGEN_zlib_SHARED AND NOT MCGEN_BUNDLE_DEPENDENCIES))
    set(library ${MCGEN_${name}_SHARED})
  endif()
  set(wanted ${MCGEN_${name}_SHARED})
  if(MCGEN_BUNDLE_DEPENDENCIES)
    set(wanted ${MCGEN_${name}_ARCHIVE})
    list(JOIN archives " or " title_of_file)
    string(APPEND title ", ${title_of_file}")
  endif()
  set(found ${wanted})
  if(name STREQUAL lua AND MCGEN_lua_INCLUDE)
    file(STRINGS ${MCGEN_lua_INCLUDE}/lua.h version REGEX "LUA_VERSION_NUM[ \t]+504")
    if(NOT version)
      set(found OFF)
      string(APPEND title " (${MCGEN_lua_INCLUDE}/lua.h is of another version)")
    endif()
  endif()
  if(NOT found OR NOT MCGEN_${name}_INCLUDE)
    set(MCGEN_MISSING "${MCGEN_MISSING}\n    ${title}" PARENT_SCOPE)
    set(MCGEN_MISSING_DEBIAN "${MCGEN_MISSING_DEBIAN} ${debian}" PARENT_SCOPE)
    set(MCGEN_MISSING_FEDORA "${MCGEN_MISSING_FEDORA} ${fedora}" PARENT_SCOPE)
    return()
  endif()
  add_library(mcgen_${name} INTERFACE)
  target_link_libraries(mcgen_${name} INTERFACE ${library})
  target_include_directories(mcgen_${name} SYSTEM INTERFACE ${MCGEN_${name}_INCLUDE})
  add_library(mcgen_${name}_shared INTERFACE)
  target_link_libraries(mcgen_${name}_shared INTERFACE ${wanted})
  if(MCGEN_BUNDLE_DEPENDENCIES)
    set(MCGEN_BUNDLED_${name} ${wanted} PARENT_SCOPE)
    mcgen_check_archive(${wanted} independent)
    if(NOT independent)
      set(MCGEN_NOT_POSITION_INDEPENDENT "${MCGEN_NOT_POSITION_INDEPENDENT}\n    ${wanted}" PARENT_SCOPE)
    endif()
  else()
    get_filename_component(file ${library} NAME)
    string(REGEX REPLACE "^lib|\\.(a|so|dylib)[.0-9]*$" "" flag ${file})
    set(MCGEN_FLAG_${name} -l${flag} PARENT_SCOPE)
  endif()
endfunction()

mcgen_find_library(lua "Lua 5.4 (lua.h)" lua.h liblua5.4-dev lua-devel lua5.4 lua-5.4 lua54 lua)
mcgen_find_library(jansson "jansson (jansson.h)" jansson.h libjansson-dev jansson-devel jansson)
mcgen_find_library(xxhash "xxHash (xxhash.h)" xxhash.h libxxhash-dev xxhash-devel xxhash)
mcgen_find_library(b2 "libb2 (blake2.h)" blake2.h libb2-dev libb2-devel b2)
mcgen_find_library(zlib "zlib (zlib.h)" zlib.h zlib1g-dev zlib-devel z)
if(MCGEN_MISSING AND MCGEN_BUNDLE_DEPENDENCIES)
  message(FATAL_ERROR "MCGEN_BUNDLE_DEPENDENCIES needs archives that were not found:${MCGEN_MISSING}\n"
    "  tools/dependencies FOLDER makes them; then configure with -DCMAKE_PREFIX_PATH=FOLDER (docs/packaging.md).")
elseif(MCGEN_MISSING)
  message(FATAL_ERROR "mcgen needs libraries that were not found:${MCGEN_MISSING}\n"
    "  Debian, Ubuntu: apt-get install${MCGEN_MISSING_DEBIAN}\n"
    "  Fedora: dnf install${MCGEN_MISSING_FEDORA}\n"
    "  Elsewhere: CMAKE_PREFIX_PATH names the folders where they are installed.")
elseif(MCGEN_NOT_POSITION_INDEPENDENT)
  message(FATAL_ERROR "MCGEN_BUNDLE_DEPENDENCIES needs archives of position-independent code, which these are not:"
    "${MCGEN_NOT_POSITION_INDEPENDENT}\n"
    "  tools/dependencies FOLDER makes some; then configure with -DCMAKE_PREFIX_PATH=FOLDER (docs/packaging.md).")
endif()
target_link_libraries(mcgen_lua INTERFACE m ${CMAKE_DL_LIBS})
