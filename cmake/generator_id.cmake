# Writes OUTPUT, a header with the hash of the sources (*.c, *.h, *.def) in FOLDER and in its folders at any depth:
# their names below FOLDER and their bytes, no paths and no times.
#   cmake -D FOLDER=gen -D OUTPUT=generator_id.h -P generator_id.cmake
# A header that would not change is left alone, and what includes it is not compiled again.
file(GLOB_RECURSE sources RELATIVE ${FOLDER} ${FOLDER}/*.c ${FOLDER}/*.h ${FOLDER}/*.def)
list(SORT sources)
set(lines "")
foreach(source IN LISTS sources)
  file(SHA256 ${FOLDER}/${source} hash)
  string(APPEND lines "${source} ${hash}\n")
endforeach()
string(SHA256 hash "${lines}")
string(SUBSTRING ${hash} 0 16 hash)
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#define GENERATOR_ID \"${hash}\"\n")
