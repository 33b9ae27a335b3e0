#!/bin/sh
# gpu.sh CONFORMANCE: records the first GPU's results afresh, and replays them on the simulator.
record=$(mktemp) || exit 1
trap 'rm -f "$record"' EXIT
"$1" record cuda:0 >"$record" || exit $?
"$1" replay sim "$record"
