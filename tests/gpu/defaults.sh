#!/usr/bin/env bash
# On a GPU: the default kernel of every spec, with V = 1, 2, 4, 8 and 16, exact on the DLMC matrices of a folder.
# defaults.sh MCRUN SPECS FOLDER [N [SETTINGS...]]   SPECS: a folder, or what paths of specs begin with (specs/sddmm_);
# N: of an SDDMM K. Prints a line a spec and V; exits 77 where there is no GPU.
set -u
mcrun=$1 specs=$2 folder=$3 n=${4:-256}
shift $(($# < 4 ? $# : 4))
[ -d "$specs" ] && specs=$specs/
if ! "$mcrun" devices | grep -q '^cuda:0'; then
    echo "SKIPPED: no GPU"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

one() { # MCRUN WORK N SPEC VEC MATRIX SETTINGS...
    local name=$(basename "$4" .lua) size=--n
    local out=$2/$name-v$5 command=${name%%_*}
    [ "$command" = sddmm ] && size=--k
    if "$1" "$command" "$4" "$6" $size "$3" --vec "$5" --device cuda:0 "${@:7}" >"$2/log.$$" 2>&1; then echo exact >>"$out"
    else sed "s|^|$(basename "$6"): |" "$2/log.$$" >>"$out"; fi
    rm -f "$2/log.$$"
}
export -f one

for spec in "$specs"*.lua; do
    for vec in 1 2 4 8 16; do
        [[ $spec = */values_*.lua ]] && continue # no operator: tests/gpu/values.c
        [[ $spec = *spmm_l4r4_shared.lua && $vec = 16 ]] && continue # there is no such kernel
        [ $vec != 16 ] && grep -q '^sparse_mma' "$spec" && continue
        [ $vec -lt 8 ] && grep -qE '^staging *= *"(expand|fragments)"' "$spec" && continue
        for matrix in "$folder"/*.smtx; do echo $spec $vec $matrix "$@"; done
    done
done | xargs -P "$(nproc)" -L 1 bash -c 'one "$@"' one "$mcrun" "$work" "$n"

status=0
for log in "$work"/*; do
    exact=$(grep -cx exact "$log")
    echo "$(basename "$log"): $exact matrices exact, $(grep -cvx exact "$log") lines of others"
    grep -vx exact "$log" | head -3
    [ "$exact" = "$(ls "$folder"/*.smtx | wc -l)" ] || status=1
done
echo "n = $n, status $status"
exit $status
