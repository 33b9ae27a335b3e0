#!/usr/bin/env bash
# A kernel in under 5 ms, cold process included. Of 41 runs the quarter counts that nothing else on the machine held up. startup.sh
# MCGEN SPEC
set -u
export MCGEN_ARCH=sm_80 # whatever GPU is here
for _ in $(seq 41); do
    start=$EPOCHREALTIME
    "$1" "$2" >/dev/null || exit 1
    end=$EPOCHREALTIME
    echo $((${end/./} - ${start/./}))
done | sort -n | {
    mapfile -t us
    [ ${#us[@]} = 41 ] || exit 1
    echo "quarter ${us[10]} us, median ${us[20]} us"
    [ "${us[10]}" -lt 5000 ]
}
