#!/usr/bin/env bash
# Real pruned layers on the simulator, of a spec of either family, where the data is at hand: MCGEN_DATA, or ../shared/data beside the checkout.
# real.sh MCRUN SPEC; exits 77 without data.
set -u
mcrun=$1
spec=$2
operator=$(basename "$spec" | cut -d_ -f1)
case $operator in spmm) size=--n ;; sddmm) size=--k ;; esac
data=${MCGEN_DATA:-$(dirname "$spec")/../../shared/data}
if ! [ -f "$data/dev.tar.xz" ]; then
    echo "SKIPPED: no real matrices (dev.tar.xz) in $data"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tar -xJf "$data/dev.tar.xz" -C "$work" || exit 1
status=0
count=0
for matrix in $(find "$work" -name 'transformer__magnitude_pruning__0.9*.smtx' -o -name 'rn50__random_pruning__0.95*.smtx' -o -name 'fem__bcsstk13.smtx'); do
    union=
    case $matrix in *fem__*) union=--union ;; esac
    "$mcrun" $operator "$spec" "$matrix" $size 128 --device sim $union || status=1
    count=$((count + 1))
done
echo "coverage: $count real matrices"
[ "$count" -ge 3 ] && exit $status
