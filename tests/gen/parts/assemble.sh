#!/usr/bin/env bash
# The kernels that gemm_print knows, and those of its sweep over sizes, assemble for sm_90a without spills, and with
# wgmma that ptxas leaves asynchronous. Exits 77 without ptxas.
set -u
print=$1
ptxas=${PTXAS:-$(command -v ptxas || echo /usr/local/cuda/bin/ptxas)}
if ! [ -x "$ptxas" ]; then
    echo "SKIPPED: no ptxas here, nothing was assembled"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
count=0
for name in $("$print") $("$print" --sweep); do
    "$print" "$name" >"$work/kernel.ptx" || failed=1
    "$ptxas" -v -arch=sm_90a "$work/kernel.ptx" -o "$work/kernel.cubin" >"$work/log" 2>&1
    if ! grep -q ' 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads' "$work/log" ||
        grep -q 'serialized' "$work/log"; then
        echo "failed: $name"
        cat "$work/log"
        failed=1
    fi
    count=$((count + 1))
done
echo "$count kernels"
exit $failed
