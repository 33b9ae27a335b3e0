#!/usr/bin/env bash
# What tests do with a store of proofs, from prove to sample, on a store of its own: store.sh BIN SPEC
set -u
bin=$1 spec=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export MCGEN_PROOFS_STORE=$work/store
unset MCGEN_PROOFS MCGEN_PROOFS_SAMPLE
failed=0
fail() { echo "failed: $*"; tail -5 "$work/log"; failed=$((failed + 1)); }

# sweep MODE: some places of the edge table. Says how many runs were simulated in $simulated, and returns the sweep's status.
sweep() {
    MCGEN_PROOFS=$1 "$bin/sweep_test" "$spec" edges open 40 >"$work/log" 2>&1
    local status=$?
    simulated=$(sed -nE 's/^proofs: .* kernels, ([0-9]*) simulated.*/\1/p' "$work/log")
    return $status
}
file=$work/store/$(basename "$spec" .lua)/sweep_test-edges-open-40

# Nothing is there: required, made, kept.
sweep require && fail "required, but there is none"
sweep check && [ "$simulated" -gt 0 ] || fail "without a store all is simulated"
[ ! -e "$file" ] || fail "check wrote proofs"
all=$simulated
sweep prove && [ "$simulated" = "$all" ] && [ -s "$file" ] || fail "the first proofs"
for mode in require check prove; do sweep $mode && [ "$simulated" = 0 ] || fail "$mode, all proved"; done
sweep all && [ "$simulated" = "$all" ] || fail "all anew"
MCGEN_PROOFS_SAMPLE=seed/4 sweep require && [ "$simulated" -gt 0 ] && [ "$simulated" -lt "$all" ] || fail "a sample"
MCGEN_PROOFS_SAMPLE=seed/4 sweep part && [ "$simulated" -gt 0 ] && [ "$simulated" -lt "$all" ] || fail "a part"
cp "$file" "$work/whole"

# One kernel lacks its proof: it is named, simulated alone, and proved again.
sed -i 5d "$file"
sweep require && fail "one is missing"
grep -q '^no proof: .*: op=spmm .* vec=8 ' "$work/log" || fail "the kernel is named"
sweep check && [ "$simulated" -gt 0 ] && [ "$simulated" -lt "$all" ] || fail "one is simulated"
sweep prove && cmp -s "$file" "$work/whole" || fail "one is proved again"

# Files that are damaged prove nothing, and are made anew. A key that no run has goes.
size=$(stat -c %s "$file")
for damage in "truncate -s $((size - 3))" "truncate -s 0" "sed -i 4s/^./x/" "sed -i 3s/^./&0/" "sed -i 1d" "sed -i 2s/\$/\r/"; do
    cp "$work/whole" "$file"
    $damage "$file"
    sweep require && fail "$damage: taken for proofs"
    grep -q "is no file of proofs" "$work/log" || fail "$damage: it is said"
    sweep prove && cmp -s "$file" "$work/whole" || fail "$damage: made anew"
done
sed -i '$s/^.*$/0123456789abcdef/' "$file"
sweep require && fail "another key is taken for one that was there"
echo fedcba9876543210 >>"$file"
sweep prove && cmp -s "$file" "$work/whole" || fail "stale keys stay"

# Killed: what is there is whole.
for after in 0.02 0.1 0.3; do
    rm -rf "$work/store"
    { MCGEN_PROOFS=prove timeout -s KILL $after "$bin/sweep_test" "$spec" edges open 40 >/dev/null; } 2>/dev/null
    [ ! -e "$file" ] || cmp -s "$file" "$work/whole" || fail "killed after $after s: half a file"
done

# A wrong kernel: no mode proves it. Forged, a proof is believed, but for the sample: of 500 runs 20 are wrong; with one run in 50
# that is found in 1 - 0.98^20, a third of all seeds, with one in 2 always.
wrong() { "$bin/wrong_test" forged 500 25 >"$work/log" 2>&1; }
for mode in check require prove all; do MCGEN_PROOFS=$mode wrong && fail "$mode: a wrong kernel passes"; done
[ ! -e "$work/store/forged" ] || fail "a wrong kernel was stored"
"$bin/wrong_forge" forged 500 25 >"$work/log" || fail "forging"
MCGEN_PROOFS=require wrong || fail "a forged proof is not believed: then there is nothing to test"
MCGEN_PROOFS=all wrong && fail "all: a forged proof is believed"
caught=0 always=0
for seed in $(seq 60); do
    MCGEN_PROOFS=require MCGEN_PROOFS_SAMPLE=$seed/50 wrong || caught=$((caught + 1))
    MCGEN_PROOFS=require MCGEN_PROOFS_SAMPLE=$seed/2 wrong || always=$((always + 1))
done
[ $caught -ge 6 ] && [ $caught -le 36 ] || fail "$caught of 60 samples caught it, should be 20"
[ $always = 60 ] || fail "$always of 60 samples of every second run caught it"

MCGEN_PROOFS=prowe wrong
[ $? = 2 ] || fail "an unknown mode"
MCGEN_PROOFS_SAMPLE=1 wrong
[ $? = 2 ] || fail "a sample without a rate"
echo "a planted wrong kernel with a forged proof: caught by $caught of 60 samples of one run in 50, of 500 runs with 20 wrong ones"
[ $failed = 0 ]
