#!/bin/bash
# The commands that run kernels on a GPU compile each once: the cache has it the next time. On a driver that is the simulator
# (tests/bench). Arguments: mcrun, the source directory, json_get, mcbench.
mcrun=$1 json_get=$3 mcbench=$4
source "$2/tests/expect.sh"
specs=$2/specs
cd "$work" || exit 1
unset MCGEN_CACHE_MAX MCGEN_CACHE_SYSTEM
"$mcrun" matrix-gen --rows 4 --cols 64 --sparsity 0.5 -o m.smtx || exit 1

# entries WANT: kernels in the cache
entries() {
    "$mcrun" cache stats --json >stats.json
    check "$("$json_get" stats.json files) entries, want $1" test "$("$json_get" stats.json files)" = "$1"
}
run() { expect 0 'verdict    exact' "$mcrun" "$@" --device cuda:0; }

run spmm "$specs/spmm_l8r8.lua" m.smtx --n 16 --no-cache
entries 0
MCGEN_CACHE=off run spmm "$specs/spmm_l8r8.lua" m.smtx --n 16
entries 0
for _ in 1 2; do
    run spmm "$specs/spmm_l8r8.lua" m.smtx --n 16
    entries 1
done
# What a plan compiled a run finds, and the other way round
"$mcrun" plan "$specs/spmm_l8r8.lua" m.smtx --n 16 --device cuda:0 >plan.txt || complain 'plan failed'
sets=()
for field in $(sed -n 's/^fields     op=[a-z]*//p' plan.txt); do sets+=(--set "$field"); done
before=$("$mcrun" cache list | grep -c '  op=')
run spmm "$specs/spmm_l8r8.lua" m.smtx --n 16 "${sets[@]}"
check 'the kernel of the plan was compiled again' test "$("$mcrun" cache list | grep -c '  op=')" = "$before"
"$mcrun" cache clear >/dev/null
run sddmm "$specs/sddmm_l8r8.lua" m.smtx --k 64 --bench
entries 1
run quantise "$specs/quantise_s8_given.lua" --m 4 --n 64
entries 2
expect 0 'exact' "$mcrun" spmm "$specs/spmm_l8r8.lua" m.smtx --n 16 --device cuda:0 --variants all --set tile_n=32
many=$("$mcrun" cache list | grep -c '  op=')
check "all variants are kept, not $many" test "$many" -gt 10
# PTX of one's own is not kept under the variant's name
"$mcrun" cache clear >/dev/null
"$mcrun" pack "$specs/spmm_l8r8.lua" m.smtx --out packed --arch sm_90 >/dev/null
run spmm "$specs/spmm_l8r8.lua" m.smtx --n 16 --arch sm_90 --ptx packed/kernel.ptx
entries 0
# A damaged entry is made anew
run spmm "$specs/spmm_l8r8.lua" m.smtx --n 16
for entry in cache/??/*.entry; do printf x >>"$entry"; done
run spmm "$specs/spmm_l8r8.lua" m.smtx --n 16
expect 0 'all good' "$mcrun" cache verify
# On the simulator there is nothing to compile
"$mcrun" cache clear >/dev/null
expect 0 'verdict    exact' "$mcrun" spmm "$specs/spmm_l8r8.lua" m.smtx --n 16 --device sim
entries 0

mkdir matrices
cp m.smtx matrices
bench() { timeout 60 "$mcbench" run "$specs/spmm_l8r8.lua" -m matrices --peers none --n 16 --variants 0,17 --rounds 5 -o all.jsonl "$@"; }
expect 0 '' bench --no-cache
entries 0
for _ in 1 2; do
    expect 0 '' bench
    entries 6 # two variants, and four that make and pack a matrix on the device
done
finish
