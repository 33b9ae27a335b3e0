#!/usr/bin/env bash
# mcgen without --arch takes the GPU that the driver finds, and says which. mcgen_gpu.sh MCGEN SPECS FOLDER, which has a fake libcuda.so.1
set -u
mcgen=$1
specs=$2
folder=$3
. "$(dirname "$0")/../expect.sh"
unset MCGEN_ARCH
spec=$specs/spmm_l8r4.lua
cd "$work" || exit 1
# No driver: a file of that name which is none, in front of the system's.
mkdir none odd
: >none/libcuda.so.1
cp "$folder/libnvidia-ml.so.1" odd/libcuda.so.1

# gpu [NAME=VALUE...] ARGUMENTS...: mcgen with the fake driver and these variables
gpu() {
    local variables=()
    while [[ $1 == *=* ]]; do
        variables+=("$1")
        shift
    done
    env LD_LIBRARY_PATH="$folder" "${variables[@]}" "$mcgen" "$@"
}
# said WHICH TEXT [NOTES]: standard error is that, and so many notes of 4-bit mma for a target that was guessed.
said() {
    check "$1: stderr is '$(cat stderr)'" test "$(grep -v '^mcgen: note: ' stderr)" = "$2"
    check "$1: not ${3:-0} notes" test "$(grep -c '^mcgen: note: ' stderr)" = "${3:-0}"
}
targets() { check "$1: $(grep '^.target' stdout)" grep -q "^.target $1$" stdout; }

# -- A GPU ---------------------------------------------------------------------------------------------------------------
expect 0 "" gpu "$spec"
said "a GPU" "mcgen: no --arch: kernel for sm_90 (Fake GPU 70, device 0)"
targets sm_90
check "Hopper multiplies 4 bits as 8" grep -q "m16n8k32.row.col.s32.s8.s8" stdout
check "stdout is not the kernel of --arch" cmp stdout <("$mcgen" --arch sm_90 "$spec")
expect 0 "" gpu --arch native "$specs/spmm_l8r8_tiled_sm80.lua"
said "--arch native" ""
targets sm_90
expect 1 "--arch native: no GPU here that there are targets for" env LD_LIBRARY_PATH=none "$mcgen" --arch native "$spec"
expect 0 "" gpu --list-variants "$spec"
check "the variants are not the GPU's" test "$(grep -c arch=sm_90 stdout)" = "$(wc -l <stdout)"
expect 0 "" gpu --describe "$spec"
said "--describe" "mcgen: no --arch: kernel for sm_90 (Fake GPU 70, device 0)"
expect 0 "" gpu FAKE_CUDA_CAPABILITY=86 "$spec"
said "sm_86" "mcgen: no --arch: kernel for sm_86 (Fake GPU 70, device 0)"
check "Ampere multiplies 4 bits as they are" grep -q "row.col.s32.s4.s4" stdout
expect 0 "" gpu FAKE_CUDA_CAPABILITY=103 "$spec"
targets sm_100
expect 0 "" gpu FAKE_CUDA_CAPABILITY=75 "$spec"
said "a GPU that is too old" "mcgen: no --arch: kernel for sm_80; Fake GPU 70 (device 0) is sm_75, for which there are none" 1
targets sm_80

# -- Something names the target: no word, no driver ------------------------------------------------------------------------
for named in "--arch sm_80" "--set arch=sm_80"; do
    # shellcheck disable=SC2086
    expect 0 "" gpu FAKE_CUDA=broken $named "$spec"
    said "$named" ""
    targets sm_80
done
cp "$spec" named.lua
echo 'arch = "sm_89"' >>named.lua
expect 0 "" gpu named.lua
said "the spec's own" ""
targets sm_89
expect 0 "" gpu MCGEN_ARCH=sm_120 "$spec"
said "MCGEN_ARCH" ""
targets sm_120
expect 0 "" gpu MCGEN_ARCH=sm_120 named.lua
targets sm_89
expect 0 "" gpu MCGEN_ARCH=sm_120 --arch sm_90a named.lua
targets sm_90a
expect 0 "" gpu MCGEN_ARCH= "$spec"
targets sm_90
expect 2 "MCGEN_ARCH: no target is called 'sm_91' (did you mean 'sm_90'?)" gpu MCGEN_ARCH=sm_91 "$spec"
expect 2 "MCGEN_ARCH: no target is called 'hopper'" gpu MCGEN_ARCH=hopper "$spec"
expect 0 "" gpu FAKE_CUDA=broken --help spmm
said "--help" ""

# -- No GPU ----------------------------------------------------------------------------------------------------------------
"$mcgen" --arch sm_80 "$spec" >sm_80.ptx
silent() { # silent WHAT COMMAND...: the kernel of sm_80, and nothing said but that it has 4-bit mma
    expect 0 "" "${@:2}"
    said "$1" "" 1
    check "$1: not the kernel for sm_80" cmp stdout sm_80.ptx
}
silent "no driver" env LD_LIBRARY_PATH="$work/none" "$mcgen" "$spec"
silent "a library without the driver's functions" env LD_LIBRARY_PATH="$work/odd" "$mcgen" "$spec"
silent "no device" gpu FAKE_CUDA="no device" "$spec"
silent "a stub" gpu FAKE_CUDA=stub "$spec"
expect 0 "" gpu FAKE_CUDA=broken "$spec"
said "a broken driver" "mcgen: no --arch, and the CUDA driver does not work (cuInit: error 999): kernel for sm_80" 1
check "a broken driver: not the kernel for sm_80" cmp stdout sm_80.ptx
finish
