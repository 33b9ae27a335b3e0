#!/usr/bin/env bash
# What the build makes of sources and specs: the generator's id follows the bytes of the sources, and nothing else; both are made
# again when a file changes. build_files.sh SOURCE_FOLDER
set -eu
root=$(cd "$1" && pwd)
. "$root/tests/expect.sh"

# id FOLDER: of the sources there.
id() {
    cmake -D FOLDER="$1" -D OUTPUT="$work/id.h" -P "$root/cmake/generator_id.cmake"
    cat "$work/id.h"
}

cp -r "$root/gen" "$work/gen"
first=$(id "$work/gen")
check "the id is 16 hex digits" grep -qE '^#define GENERATOR_ID "[0-9a-f]{16}"$' "$work/id.h"
cp -r "$work/gen" "$work/elsewhere"
check "a copy elsewhere, with new times, has the same id" [ "$(id "$work/elsewhere")" = "$first" ]
# Whatever its folder, and whatever it is called: all that PTX is made of.
(cd "$work/gen" && find . -type f ! -name CMakeLists.txt ! -name '*.map') >"$work/files"
check "there are sources to change" [ "$(wc -l <"$work/files")" -gt 60 ]
cmake -D FOLDER="$work/elsewhere" -D LIST="$work/files" -D OUTPUT="$work/ids" -P "$root/tests/gen/each_byte.cmake"
check "each file has an id" [ "$(awk '$2 ~ /^[0-9a-f]+$/ && length($2) == 16' "$work/ids" | wc -l)" = "$(wc -l <"$work/files")" ]
while read -r file same; do
    check "the id follows a byte of $file" [ "#define GENERATOR_ID \"$same\"" != "$first" ]
done <"$work/ids"
check "the id is the first again" [ "$(id "$work/elsewhere")" = "$first" ]
mkdir -p "$work/elsewhere/a/b"
echo >"$work/elsewhere/a/b/new.c"
check "the id follows a new file two folders down" [ "$(id "$work/elsewhere")" != "$first" ]
mv "$work/elsewhere/a/b/new.c" "$work/elsewhere/a/new.c"
moved=$(id "$work/elsewhere")
mv "$work/elsewhere/a/new.c" "$work/elsewhere/a/b/new.c"
check "the id follows folders' names" [ "$(id "$work/elsewhere")" != "$moved" ]

# A build of its own: changed sources are seen.
mkdir "$work/tree"
cp -r "$root"/{CMakeLists.txt,cmake,gen,sim,cache,runtime,mcrun,bench,specs,README.md,LICENSE,CHANGELOG.md} "$work/tree"
cmake -S "$work/tree" -B "$work/build" -G Ninja -DMCGEN_TESTS=OFF >"$work/log" 2>&1 || cat "$work/log"
made() { cmake --build "$work/build" --target gen/generator_id.h gen/builtin_specs.inc >"$work/log" 2>&1 || cat "$work/log"; }
made
check "the build's id is the sources'" grep -qF "${first#*\"}" "$work/build/gen/generator_id.h"
echo "/* changed */" >>"$work/tree/gen/ptx/isa.def"
echo "-- changed" >>"$work/tree/specs/spmm_l8r8.lua"
cp "$work/tree/specs/spmm_l8r8.lua" "$work/tree/specs/aaa.lua"
made
check "the build sees a changed source" [ "$(cat "$work/build/gen/generator_id.h")" = "$(id "$work/tree/gen")" ]
check "which is another id" [ "$(cat "$work/build/gen/generator_id.h")" != "$first" ]
check "the build sees a changed spec" grep -qF -- '"-- changed' "$work/build/gen/builtin_specs.inc"
check "and a new one" grep -qF '{"aaa.lua",' "$work/build/gen/builtin_specs.inc"
finish
