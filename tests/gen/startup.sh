#!/usr/bin/env bash
# A kernel in under 5 ms, cold process included: the median of 41 runs. startup.sh MCGEN SPEC
set -u
export MCGEN_ARCH=sm_80 # whatever GPU is here
for _ in $(seq 41); do
    start=$EPOCHREALTIME
    "$1" "$2" >/dev/null || exit 1
    end=$EPOCHREALTIME
    echo $((${end/./} - ${start/./}))
done | sort -n | sed -n 21p | {
    read -r us
    echo "median $us us"
    [ "$us" -lt 5000 ]
}
