#!/bin/sh
# A static library of one object, in which all names are local but those that the version script MAP lists ("-": those with default visibility).
# Of archives among the objects it takes what the others ask for. archive.sh LD OBJCOPY AR ARCHIVE MAP OBJECT...
set -eu
ld=$1 objcopy=$2 ar=$3 archive=$4 map=$5
shift 5
whole=${archive%.a}.o
"$ld" -r -o "$whole" "$@"
if [ "$map" = - ]; then
    "$objcopy" --localize-hidden "$whole"
else
    sed -n 's/^    \([a-z].*\);$/\1/p' "$map" >"$whole.names"
    "$objcopy" --keep-global-symbols="$whole.names" "$whole"
fi
rm -f "$archive"
"$ar" qcs "$archive" "$whole"
rm -f "$whole" "$whole.names"
