#!/usr/bin/env bash
# The PTX of the kernels that gemm_print knows, to the byte. After a wanted change: golden.sh GEMM_PRINT --update, and
# read the diff.
set -u
print=$1
here=$(cd "$(dirname "$0")" && pwd)/golden
failed=0
for name in $("$print"); do
    if [ "${2:-}" = --update ]; then
        "$print" "$name" >"$here/$name.ptx" || failed=1
    elif ! "$print" "$name" | diff -u "$here/$name.ptx" - | head -40 >&2 || [ "${PIPESTATUS[1]}" != 0 ]; then
        echo "failed: $name"
        failed=1
    else
        echo "same: $name"
    fi
done
exit $failed
