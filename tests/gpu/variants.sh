#!/usr/bin/env bash
# On a GPU: every variant of a spec exact on every DLMC matrix of a folder. variants.sh MCRUN SPEC FOLDER [N]
# N: of an SDDMM K. Prints a line a matrix; exits 77 where there is no GPU.
set -u
mcrun=$1
spec=$2
folder=$3
n=${4:-256}
command=$(basename "$spec" | cut -d_ -f1) size=--n
[ "$command" = sddmm ] && size=--k
if ! "$mcrun" devices | grep -q '^cuda:0'; then
    echo "SKIPPED: no GPU"
    exit 77
fi
status=0
count=0
for matrix in "$folder"/*__*__0.*__*.smtx; do
    "$mcrun" "$command" "$spec" "$matrix" $size "$n" --device cuda:0 --variants all >"$folder/log" 2>&1 || status=1
    exact=$(grep -c ' exact ' "$folder/log")
    echo "$exact variants exact, $(grep -c -i 'wrong\|must be' "$folder/log") wrong: $(basename "$matrix")"
    [ "$exact" -gt 0 ] || cat "$folder/log"
    count=$((count + 1))
done
echo "$count matrices, n = $n, status $status"
[ "$count" -gt 0 ] && exit $status
