#!/usr/bin/env bash
# The program ptxsim: what it prints, and its exit statuses. program.sh PTXSIM FOLDER, FOLDER has PTX of the foreign kernels.
set -u
ptxsim=$1 folder=$2
. "$(dirname "$0")/../expect.sh"
saxpy=$folder/saxpy.ptx
cd "$work" || exit 1
run() { "$ptxsim" run "$saxpy" --block 32 --arg random:f32:64:3 "$@"; }

expect 0 "kernel" "$ptxsim" check "$saxpy"
expect 0 "usage: ptxsim COMMAND" "$ptxsim" --help
expect 0 "--schedule in-order|reversed|seed=N" "$ptxsim" run --help
expect 0 "ptxsim " "$ptxsim" --version
expect 0 "0" run --arg zero:256 --arg show:f32:8 --arg u32:0
expect 0 "sectors" run --arg zero:256 --arg out:y.bin:256 --arg u32:64 --counts
check "the buffer is written" [ "$(wc -c <y.bin)" = 256 ]
for order in in-order reversed seed=7; do
    expect 0 "" run --arg zero:256 --arg out:z.bin:256 --arg u32:64 --schedule $order --landing first --threads 2
    check "$order gives the same" cmp y.bin z.bin
done
expect 0 "" run --arg in:y.bin --arg=zero:256 --arg u32:64 --no-races --limit 1K

# Faults say where, and show the line.
expect 1 "block (0,0,0), thread (4,0,0): global store of 4 bytes" run --arg zero:256 --arg show:f32:4 --arg u32:64
expect 1 "st.global.f32" run --arg zero:256 --arg show:f32:4 --arg u32:64
expect 1 "nothing wrote" run --arg new:256 --arg zero:256 --arg u32:64
expect 1 "more than 3 warp instructions" run --arg zero:256 --arg zero:256 --arg u32:64 --limit 3
expect 1 "No such file" "$ptxsim" run nothing.ptx
expect 1 "No such file" run --arg in:nothing --arg zero:256 --arg u32:64
printf '.version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k() { tex.2d; }\n' >bad.ptx
expect 1 "bad.ptx: line 4: tex: not supported" "$ptxsim" check bad.ptx
printf 'no\0text' >binary.ptx
expect 1 "not text" "$ptxsim" check binary.ptx
expect 1 "" "$ptxsim" check /dev/null

# Wrong usage.
expect 2 "wants a command" "$ptxsim"
expect 2 "unknown command 'walk'" "$ptxsim" walk
expect 2 "a file of PTX is wanted" "$ptxsim" run
expect 2 "one file of PTX is wanted" "$ptxsim" run a b
expect 2 "unknown option '--blocks=3'" run --blocks=3
expect 2 "--grid 0: not X,Y,Z" run --grid 0
expect 2 "--grid wants X,Y,Z" run --grid
expect 2 "--counts takes no value" run --counts=1
expect 2 "check has no option '--grid'" "$ptxsim" check "$saxpy" --grid 1
expect 2 "4 parameters, and there are 1 --arg" run
expect 2 "has 4 bytes, an address has 8" run --arg zero:1 --arg zero:1 --arg zero:1
expect 2 "the parameter has 8 bytes, a u32 has 4" run --arg u32:1 --arg zero:1 --arg zero:1
expect 2 "'-1' is no u32" run --arg zero:1 --arg zero:1 --arg u32:-1
expect 2 "'4294967296' is no u32" run --arg zero:1 --arg zero:1 --arg u32:4294967296
expect 2 "'x' is no size" run --arg zero:x --arg zero:1 --arg u32:1
expect 2 "out:FILE:BYTES is wanted" run --arg out:x --arg zero:1 --arg u32:1
expect 2 "a type and a number of elements" run --arg random:f8:3 --arg zero:1 --arg u32:1
expect 2 "not a value" run --arg what --arg zero:1 --arg u32:1
expect 2 "no entry \`other\`" run --entry other
expect 2 "a block of (2000,1,1) threads" run --block 2000 --arg zero:256 --arg zero:256 --arg u32:1
printf '.version 9.0\n.target sm_90\n.address_size 64\n.entry a() { ret; }\n.entry b() { ret; }\n' >two.ptx
expect 2 "has several entries" "$ptxsim" run two.ptx
expect 0 "" "$ptxsim" run two.ptx --entry b
finish
