#!/bin/bash
# precision_split on the simulator: every split that a pair of types takes is exact and is what multiplies; what auto takes anyway is the
# same kernel; others are refused, with those that the pair takes. Arguments: mcrun, the source directory, json_get, mcgen.
mcrun=$1 mcgen=$4
source "$2/tests/expect.sh"
spmm=$2/specs/spmm_l8r8.lua sddmm=$2/specs/sddmm_l8r8.lua
types=(s8 u8 s4 u4 s12 u12 s16 u16)
declare -A bytes=([s8]=8 [u8]=8 [s4]=4 [u4]=4 [s12]=4+8 [u12]=4+8 [s16]=8+8 [u16]=8+8)
declare -A nibbles=([s8]=4+4 [u8]=4+4 [s4]=4 [u4]=4 [s12]=4+4+4 [u12]=4+4+4 [s16]=4+4+4+4 [u16]=4+4+4+4)
cd "$work" || exit 1
"$mcrun" matrix-gen --rows 5 --cols 90 --sparsity 0.6 -o m.smtx || exit 1

run() { "$mcrun" spmm "$spmm" m.smtx --union --n 70 --device sim --set warps=2 --set split=2 --set tile_n=64 "$@"; }
body() { "$mcgen" --set tile_n=64 "$@" | grep -v '^//'; } # PTX without the header, which names the split
fact() { "$mcgen" --describe --set tile_n=64 "${@:2}" "$spmm" | awk -v name="$1" '$1 == name { print $2 }'; }
# same WHAT SPEC SETTINGS... -- SETTINGS...: both make the same kernel
same() {
    local what=$1 spec=$2 left=()
    shift 2
    while [ "$1" != -- ]; do left+=("$1") && shift; done
    check "$what: another kernel" cmp <(body "${left[@]}" "$spec") <(body "${@:2}" "$spec")
}

# -- Exact, and what is meant --------------------------------------------------------------------------------------------
for lhs in "${types[@]}"; do
    for rhs in s4 u4; do
        for vec in 8 4 2; do
            kind=(--set lhs=$lhs --set rhs=$rhs --set vec=$vec)
            expect 0 'verdict    exact' run "${kind[@]}" --set "precision_split=${bytes[$lhs]}" --set mma=int8
            expect 0 'verdict    exact' run "${kind[@]}" --set "precision_split=${nibbles[$lhs]}" --set mma=int4
        done
        kind=(--set lhs=$lhs --set rhs=$rhs)
        [ "${bytes[$lhs]}" = 4 ] && continue # one digit, whatever multiplies it: mma says
        for arch in sm_80 sm_90; do
            same "$lhs x $rhs by bytes" "$spmm" --arch $arch "${kind[@]}" --set "precision_split=${bytes[$lhs]}" -- --arch $arch "${kind[@]}" --set mma=int8
            same "$lhs x $rhs by nibbles" "$spmm" --arch $arch "${kind[@]}" --set "precision_split=${nibbles[$lhs]}" -- --arch $arch "${kind[@]}" --set mma=int4
        done
        expect 2 "takes \"${bytes[$lhs]}\", for 8-bit mma, or \"${nibbles[$lhs]}\", for 4-bit ones" \
            "$mcgen" --set tile_n=64 "${kind[@]}" --set precision_split=4 "$spmm"
    done
    for rhs in s8 u16; do
        kind=(--set lhs=$lhs --set rhs=$rhs)
        expect 0 'verdict    exact' run "${kind[@]}" --set "precision_split=${bytes[$lhs]}"
        same "$lhs x $rhs" "$spmm" "${kind[@]}" --set "precision_split=${bytes[$lhs]}" -- "${kind[@]}"
        [ "${bytes[$lhs]}" = 4 ] && continue
        expect 2 "lhs = \"$lhs\" with rhs = \"$rhs\" takes \"${bytes[$lhs]}\": both sides have digits of one width" \
            "$mcgen" --set tile_n=64 "${kind[@]}" --set "precision_split=${nibbles[$lhs]}" "$spmm"
        check "one error" test "$(wc -l <"$work/stderr")" = 1
    done
    same "sddmm, $lhs" "$sddmm" --set lhs=$lhs --set "precision_split=${bytes[$lhs]}" -- --set lhs=$lhs
    wrong=8
    [ "${bytes[$lhs]}" = 8 ] && wrong=4+4
    expect 2 "precision_split: lhs = \"$lhs\" takes \"${bytes[$lhs]}\"" "$mcgen" --set lhs=$lhs --set "precision_split=$wrong" "$sddmm"
done

# The digits that multiply are those that were asked for: as many mma, and packed so.
two=$(fact stride_mma --arch sm_90 --set lhs=u16 --set rhs=u4 --set precision_split=8+8)
check "four digits are not twice the mma of two" test "$(fact stride_mma --arch sm_90 --set lhs=u16 --set rhs=u4 --set precision_split=4+4+4+4)" = $((2 * two))
expect 0 'format strided-bcrs-int4' "$mcgen" --describe --arch sm_90 --set rhs=s4 --set precision_split=4+4 "$spmm"
expect 0 'format strided-bcrs)' "$mcgen" --describe --arch sm_80 --set rhs=s4 --set precision_split=8 "$spmm"
# Digits of 4 bits that are balanced and share an mma, or have a row of ones
for kind in "s8 2 balanced" "s16 4 balanced" "s16 2 offset" "s8 4 offset"; do
    read -r lhs vec digits <<<"$kind"
    expect 0 'verdict    exact' run --set "lhs=$lhs" --set rhs=s4 --set "vec=$vec" --set "digits=$digits" --set "precision_split=${nibbles[$lhs]}"
done
expect 0 'verdict    exact' run --set lhs=s16 --set rhs=u4 --set sum=exact --set out=s64 --set precision_split=4+4+4+4

# -- In specs ------------------------------------------------------------------------------------------------------------
printf 'op = "spmm"\nrhs = "s4"\nprecision_split = {8, "4+4"}\n' >both.lua
check "a list of a number and a text" test "$("$mcgen" --list-variants both.lua | grep -o 'precision_split=[^ ]*' | tr '\n' ' ')" = \
    "precision_split=8 precision_split=4+4 "
check "auto shows" test "$("$mcgen" --set rhs=s4 "$spmm" | grep -c precision_split)" = 0
for variant in 0 1; do
    expect 0 'verdict    exact' "$mcrun" spmm both.lua m.smtx --n 64 --device sim --variant $variant
done
expect 2 'precision_split: "8+4" is not one of "auto", "8", "4", "8+8", "4+8", "4+4", "4+4+4", "4+4+4+4"' "$mcgen" --set precision_split=8+4 "$spmm"
check "8+4 is like another" test "$(grep -c 'did you mean' "$work/stderr")" = 0
expect 2 'precision_split: mma = "int8" multiplies digits of 8 bits: "8"' "$mcgen" --set rhs=s4 --set mma=int8 --set precision_split=4+4 "$spmm"
expect 2 'precision_split: mma = "int4" multiplies digits of 4 bits: "4+4"' "$mcgen" --set rhs=s4 --set mma=int4 --set precision_split=8 "$spmm"
expect 2 'precision_split: staging = "tma" multiplies digits of 8 bits: "8"' \
    "$mcgen" --set rhs=s4 --set precision_split=4+4 "$2/specs/spmm_l8r8_tiled.lua"
expect 2 'precision_split: lhs = "s4" takes "4": it is one digit' "$mcgen" --set lhs=s4 --set rhs=s4 --set precision_split=4+4 "$spmm"
finish
