#!/bin/sh
# probe.sh PROBE DEVICE FILE: the device adds as the file says.
"$1" "$2" | diff "$3" - || exit 1
echo "coverage: $(grep -c '^[^ ]' "$3") shapes and types of mma add as $(basename "$3" .probe) does"
