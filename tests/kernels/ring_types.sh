#!/usr/bin/env bash
# The ring kernel, staging tma and async, with every type on the left, several on the right, and every V: exact on the simulator.
# Variants, columns and orders of the warps take turns.
#   ring_types.sh MCGEN MCRUN [SPEC UNIT TYPES]...   a spec, the bytes that rows of B are a multiple of, types on the right
# All runs are made, or a part where MCGEN_TESTS_PART asks for one (tests/check.h): SEED/N. The parts together are all.
set -u
export MCGEN_ARCH=sm_80 # whatever GPU is here
mcgen=$1
mcrun=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
orders=(sim sim:reversed:landing=first sim:seed=1 sim:landing=first)
columns=(128 130 47 256 65)
part=${MCGEN_TESTS_PART:-0/1}
every=${part#*/}
first=$(($(printf '%s' "${part%/*}" | cksum | cut -d' ' -f1) % every))
runs=0
turn=0
failed=0

for v in 2 4 8; do
    "$mcrun" matrix-gen --m $((v * 37)) --vec "$v" --cols 700 --sparsity 0.8 --seed "$v" -o "$work/$v.smtx" || exit 1
done
while [ $# -ge 3 ]; do
    spec=$1
    unit=$2
    types_right=$3
    shift 3
    for v in 2 4 8; do
        for lhs in s4 u4 s8 u8 s12 u12 s16 u16 s12:offset s16:balanced s16:offset; do
            for rhs in $types_right; do
                columns_unit=$unit
                case $rhs in *4) columns_unit=$((2 * unit)) ;; *12 | *16) columns_unit=$((unit / 2)) ;; esac
                types=(--set "vec=$v" --set "lhs=${lhs%:*}" --set "rhs=$rhs")
                # types_test has the others
                case $lhs:$rhs:$v in
                *:*:?4:[24]) types+=(--set "digits=${lhs#*:}") ;;
                *:*:*:?) continue ;;
                esac
                number=$turn
                turn=$((turn + 1))
                [ $((number % every)) = $first ] || continue
                count=$("$mcgen" --list-variants "${types[@]}" "$spec" | wc -l)
                n=${columns[number % 5]}
                "$mcrun" spmm "$spec" "$work/$v.smtx" "${types[@]}" --vec "$v" --variant $((number * 7 % count)) --n "$n" \
                    --ldb $(((n + columns_unit - 1) / columns_unit * columns_unit)) --device "${orders[number % 4]}" >"$work/log" 2>&1 || {
                    echo "failed: $spec ${types[*]} --variant $((number * 7 % count)) --n $n: $(tail -1 "$work/log")"
                    failed=$((failed + 1))
                }
                runs=$((runs + 1))
            done
        done
    done
done
echo "$runs runs, $failed not exact"
[ "$runs" -gt 0 ] && [ "$failed" = 0 ]
