#!/usr/bin/env bash
# A 4096 x 2048 matrix at 90 %, V = 8, N = 256 on the simulator in under 30 s on one core. sim_speed.sh MCRUN SPEC
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$1" matrix-gen --rows 512 --cols 2048 --sparsity 0.9 --seed 1 -o "$work/layer.smtx"
start=$SECONDS
"$1" spmm "$2" "$work/layer.smtx" --vec 8 --n 256 --device sim
echo "$((SECONDS - start)) s"
[ $((SECONDS - start)) -lt 30 ]
