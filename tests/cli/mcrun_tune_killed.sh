#!/bin/bash
# mcrun tune is killed while its worker waits for a kernel that never ends: the worker goes with it. Nothing but
# its parent's death tells it, since it writes no line that could fail. A signal that stops it would not do: what
# stands still in a process group that nobody is left to continue is ended by the system itself. The driver is
# the simulator (tests/bench/sim_cuda.c). Arguments: mcrun, the source directory.
mcrun=$1
source "$2/tests/expect.sh"
spec=$2/specs/spmm_l8r8.lua
cd "$work" || exit 1
export SIM_CUDA_HANG=$work/hangs
export MCGEN_CACHE_DIR=$work/cache
unset MCGEN_TUNER MCGEN_TUNING
await() { for _ in $(seq 300); do if "$@" >/dev/null 2>&1; then return 0; fi; sleep 0.05; done; complain "never: $*"; }
ended() { ! grep -qs '^State:[[:space:]]*[A-WY]' "/proc/$1/status"; }
"$mcrun" matrix-gen --rows 5 --cols 90 --sparsity 0.6 -o m.smtx || exit 1

"$mcrun" tune --device cuda:0 "$spec" m.smtx --n 16 --records records.jsonl >table 2>err & tuner=$!
await test -e hangs
read -r worker <"/proc/$tuner/task/$tuner/children"
check "a worker, not '$worker'" grep -qa tune-worker "/proc/${worker:-0}/cmdline"
kill -KILL $tuner
wait $tuner
check "killed, not $?" test $? = 137
if [ -n "$worker" ]; then
    await ended "$worker"
    ended "$worker" || kill -KILL "$worker"
fi
finish
