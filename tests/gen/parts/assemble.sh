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
export print ptxas work

# assemble NAME
assemble() {
    local out=$work/$1
    "$print" "$1" >"$out.ptx" || echo "failed: $1" >"$out.failed"
    "$ptxas" -v -arch=sm_90a "$out.ptx" -o "$out.cubin" >"$out.log" 2>&1
    if ! grep -q ' 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads' "$out.log" ||
        grep -q 'serialized' "$out.log"; then
        {
            echo "failed: $1"
            cat "$out.log"
        } >"$out.failed"
    fi
    rm -f "$out.cubin"
}
export -f assemble

# Of the sweep, a part where MCGEN_TESTS_PART asks for one (tests/check.h): SEED/N.
mapfile -t sweep < <("$print" --sweep)
part=${MCGEN_TESTS_PART:-0/1}
of=${part#*/}
turn=$(($(printf '%s' "${part%/*}" | cksum | cut -d' ' -f1) % of))
names=()
for i in "${!sweep[@]}"; do
    [ $((i % of)) = "$turn" ] && names+=("${sweep[$i]}")
done
mapfile -t golden < <("$print")
names+=("${golden[@]}")
# The sweep has some kernels twice; two at once would write one file.
mapfile -t names < <(printf '%s\n' "${names[@]}" | sort -u)
printf '%s\n' "${names[@]}" | xargs -P "$(nproc)" -I{} bash -c 'assemble {}'
cat "$work"/*.failed 2>/dev/null
echo "${#names[@]} kernels"
! ls "$work"/*.failed >/dev/null 2>&1
