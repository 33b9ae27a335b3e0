# For each file that LIST names, FOLDER's id while that file has a byte more. OUTPUT gets a line "FILE ID" for each, and FOLDER is as before.
#   cmake -D FOLDER=gen -D LIST=files -D OUTPUT=ids -P each_byte.cmake
# One process does all, since there are hundreds of files.
file(STRINGS ${LIST} files)
set(ids ${OUTPUT})
set(lines_of_ids "")
foreach(changed IN LISTS files)
  file(COPY_FILE ${FOLDER}/${changed} ${ids}.kept)
  file(APPEND ${FOLDER}/${changed} " ")
  set(OUTPUT ${ids}.h)
  include(${CMAKE_CURRENT_LIST_DIR}/../../cmake/generator_id.cmake)
  file(STRINGS ${ids}.h id REGEX GENERATOR_ID)
  string(REGEX REPLACE ".*\"(.*)\".*" "\\1" id "${id}")
  string(APPEND lines_of_ids "${changed} ${id}\n")
  file(COPY_FILE ${ids}.kept ${FOLDER}/${changed})
endforeach()
file(WRITE ${ids} "${lines_of_ids}")
