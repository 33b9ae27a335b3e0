# Writes OUTPUT, a row {"name", "text"}, of C's for each file of FOLDER whose name matches PATTERN, in the order of their names.
#   cmake -D FOLDER=specs -D PATTERN=*.lua -D OUTPUT=builtin_specs.inc -P embed.cmake
file(GLOB names RELATIVE ${FOLDER} ${FOLDER}/${PATTERN})
list(SORT names)
set(rows "")
foreach(name IN LISTS names)
  file(READ ${FOLDER}/${name} text)
  string(REPLACE "\\" "\\\\" text "${text}")
  string(REPLACE "\"" "\\\"" text "${text}")
  string(REPLACE "\n" "\\n\"\n     \"" text "${text}")
  string(APPEND rows "    {\"${name}\",\n     \"${text}\"},\n")
endforeach()
file(WRITE ${OUTPUT} "${rows}")
