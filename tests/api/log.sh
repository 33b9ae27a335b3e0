#!/bin/bash
# MCGEN_LOG shows the log of applications that set none: log.sh EMBED THREADS SOURCES, two of the examples.
embed=$1 threads=$2
source "$3/tests/expect.sh"
export HOME=$work MCGEN_RECORDS=$work/records.jsonl
unset MCGEN_TUNING

run() { "$embed" sim >out 2>err; }
lines() { check "$1: $(grep -c '^libmcrt: ' err) lines of log, want $2" test "$(grep -c '^libmcrt: ' err)" = "$2"; }
cd "$work" || exit 1
run && lines 'not set' 0
MCGEN_LOG='' run && lines 'empty' 0
MCGEN_LOG=detail run
check 'which kernel, and why' grep -q '^libmcrt: planned in .* ms: spmm_[a-z0-9_]*.lua: op=spmm .* (estimated: the least estimate of ' err
check 'every line is the log'\''s' test "$(grep -vc '^libmcrt: ' err)" = 0
rm -rf cache
MCGEN_LOG=detail run
check 'what was compiled' grep -q '^libmcrt: generated in .* ms, compiled in .* ms: op=spmm ' err
printf 'no record \033[31m\n' >records.jsonl
MCGEN_LOG=note run
lines 'a damaged record' 1
check 'it is named' grep -q "^libmcrt: $work/records.jsonl:1: passed over" err
check 'no control characters' test "$(tr -d '\n' <err | tr -dc '\001-\037' | wc -c)" = 0
rm records.jsonl
MCGEN_LOG=note run && lines 'nothing to note' 0
MCGEN_LOG=loud "$threads" sim sim >out 2>err || complain 'another value is fatal'
lines 'another value, two contexts' 1
check 'what is wrong is told' grep -qF "libmcrt: MCGEN_LOG is 'loud', must be note or detail: nothing is logged" err
finish
