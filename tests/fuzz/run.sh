#!/usr/bin/env bash
# Each fuzz target for SECONDS from seeds out of the repository. run.sh BINARIES [SECONDS]
set -eu
bin=$(cd "$1" && pwd)
seconds=${2:-20}
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/spec" "$work/fields" "$work/ptx" "$work/matrix" "$work/packed" "$work/cache" "$work/record"
cp "$root"/specs/*.lua "$work/spec"
cp "$root"/tests/gen/golden/*.ptx "$root"/tests/sim/foreign/*.ptx "$work/ptx"
# Fields as the heads of kernels have them, and saved kernels with them.
sed -n 's,^//   \(op=.*\),\1,p' "$root"/tests/gen/golden/*.ptx | while read -r fields; do
    count=$((${count:-0} + 1))
    printf '%s' "$fields" >"$work/fields/$count"
    printf '1fields %s\nptx_version 70\nregisters 100\nregister_limit 120\n' "$fields" >"$work/fields/saved-$count"
done
# The kernels of the simulator's tests, each with its module's head.
for test in test_isa test_flow test_parse test_mma test_whole_warp test_async test_tensor test_broken_async test_cluster test_broken_cluster conformance; do
    "$bin/$test" dump | awk -v name="$work/ptx/$test" '
        /^\.version/ { head = "" }
        /^\.(version|target|address_size)/ { head = head $0 "\n"; next }
        /\.entry/ { file = name "-" ++count; printf "%s", head >file }
        file { print >file }
        /^}/ && file { close(file); file = "" }'
done
for kernel in 0 1 2 3 4 5 6 7 8 9 10 11; do "$bin/test_function" dump $kernel >"$work/ptx/function-$kernel"; done
printf '03, 4, 3\n0 1 2 3\n0 1 3\n' >"$work/matrix/smtx"
printf '1%%%%MatrixMarket matrix coordinate real symmetric\n%% c\n3 3 2\n1 1 0.5\n3 1 -2e3\n' >"$work/matrix/mtx"
printf '1%%%%MatrixMarket matrix array integer skew-symmetric\n2 2\n%%\n-7\n' >"$work/matrix/mtx-array"
printf '1%%%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 1\n1 1 2\n2 2 .5d0\n' >"$work/matrix/mtx-summed"
{ printf 5 && printf '3, 4, 3\n0 1 2 3\n0 1 3\n' | gzip -n; } >"$work/matrix/smtx-gz"
{ printf 6 && tail -c +2 "$work/matrix/mtx" | gzip -n; } >"$work/matrix/mtx-gz"
printf '2\x93NUMPY\x01\x00\x46\x00%-69s\n\x01\x02' "{'descr': '|i1', 'fortran_order': False, 'shape': (1, 2), }" >"$work/matrix/npy"
printf '3\x40\0\0\0\0\0\0\0%-64s\1\2' '{"w":{"dtype":"I8","shape":[1,2],"data_offsets":[0,2]}}' >"$work/matrix/safetensors"
printf '4\3\4\2\1\4\10\1\0\3\4\1\4\6\0\1\2\3\4\5\6\7\10' >"$work/matrix/bsr"
printf '4\11\4\1\2\4\10\2\0\1\2\2\2\3\3\4\4\1\0\0\0\7\10\1\2\3\4\5\6' >"$work/matrix/bsr-by-columns"
# Three vectors of two in BCRS, SR-BCRS, strided-bcrs and sampled-list; two of eight in bitmap-bcrs.
# bitmap-tiles: two pairs of columns; two and one in a tile of two row blocks of seven columns.
padding() { printf "$1%.0s" $(seq "$2"); }
printf '\x42\1\2\10\3\0\2\3\1\4\0\1\2\3\4\5\6' >"$work/packed/bcrs"
{ printf '\x43\1\1\10\1\0\3\1\4\6' && padding '\377' 13 && printf '\1\3\5' && padding '\0' 13 && printf '\2\4\6'; } >"$work/packed/srbcrs"
{ printf '\x62\1\1\10\1\1\1\1\4\6' && padding '\377' 29 && printf '\1\3\5' && padding '\0' 29 && printf '\2\4\6'; } >"$work/packed/strided"
{ printf '\x45\1\1\10\1\0\0\3\0\1\377\4\377\6' && padding '\377' 11 && printf '\1\2\3\4\5\6'; } >"$work/packed/sampled"
{ printf '\x41\0\1\10\2\0\x81\2\0\2\0\2\0' && padding '\2\0' 64 && printf '\1\2\3\4\5\6\7\10\11'; } >"$work/packed/bitmap"
{ printf '\x41\x10\1\10\2\0\2\x09\x20' && padding '\1' 32; } >"$work/packed/tiles"
{ printf '\x41\x30\2\7\3\0\3\x09\x22\x30\x30' && padding '\1\0' 24; } >"$work/packed/tiles-odd"
# An entry that is edited: two edits, a label of three bytes, data. Records: one of the simulator, and some that are shipped.
printf '\1\2\3\0\100\1\0\120\200abcthe bytes of a kernel' >"$work/cache/edited"
printf '\0mccache\0\1\0\0\0\3\0\0\0\4\0\0\0\0\0\0\0' >"$work/cache/header"
cat "$root"/tests/fuzz/record.jsonl "$root"/records/*.jsonl 2>/dev/null | head -50 | split -l 1 - "$work/record/line-"
# Words to try: those of the instruction table.
grep -E '^(ONE|BY_TYPE)' "$root/sim/ops.def" | grep -oE '[A-Za-z0-9_:]+' | sort -u | sed 's/.*/"&"/' >"$work/words"
cd "$work"
fuzz() { # TARGET
    local words=()
    [ "$1" = ptx ] && words=(-dict="$work/words")
    "$bin/fuzz_$1" "${words[@]}" -max_total_time="$seconds" -rss_limit_mb=2048 -timeout=10 -max_len=65536 -verbosity=0 -print_final_stats=1 "$work/$1" \
        >"$1.log" 2>&1 || { tail -40 "$1.log"; echo "fuzz_$1: failed"; return 1; }
    echo "fuzz_$1: $(grep -o 'number_of_executed_units: [0-9]*' "$1.log"), no finding"
}
# Two at a time.
for pair in "spec fields" "ptx matrix" "packed cache" "record"; do
    # shellcheck disable=SC2086
    set -- $pair
    fuzz "$1" &
    if [ $# -gt 1 ]; then fuzz "$2"; fi
    wait $!
done
