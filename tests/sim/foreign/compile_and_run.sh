#!/bin/sh
# compile_and_run.sh TEST: compiles the kernels with the nvcc that is installed and tests them; without one it is skipped.
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
"$here/compile.sh" "$dir"
status=$?
[ $status = 0 ] || exit $status
"$1" "$dir"
