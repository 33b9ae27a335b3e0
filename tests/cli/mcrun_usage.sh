#!/bin/bash
# mcrun: wrong usage, help and exit statuses. Arguments: mcrun, the source directory.
mcrun=$1 json_get=$3
source "$2/tests/expect.sh"
spec=$2/specs/spmm_l8r8.lua
cd "$work" || exit 1
"$mcrun" matrix-gen --rows 4 --cols 64 --sparsity 0.5 -o m.smtx || exit 1
printf '3, 4, 2\n0 1 2 2\n9 0\n' >bad.smtx
printf 'tile_m = 8 op = "spmm"\nwarps = 5\n' >s.lua

expect 0 'usage: mcrun COMMAND' "$mcrun" --help
expect 0 'usage: mcrun COMMAND' "$mcrun" -h
expect 0 'usage: mcrun COMMAND' "$mcrun" help
expect 2 "unknown command 'spm'" "$mcrun" help spm
expect 0 'mcrun 0.' "$mcrun" --version
check 'the generator is another than mcgen'\''s' test "$("$mcrun" --version | cut -d' ' -f2-)" = "$("$4" --version | cut -d' ' -f2-)"
for command in spmm sddmm pack compile devices matrix-gen matrix-info cache tune plan; do
    for help in "$command --help" "$command -h" "help $command"; do
        # shellcheck disable=SC2086
        expect 0 "usage: mcrun $command" "$mcrun" $help
    done
    expect 2 "--wrong: unknown or ambiguous option" "$mcrun" "$command" --wrong
    expect 2 'unknown or ambiguous option' "$mcrun" "$command" -Z
done
expect 2 'mcrun: wants a command' "$mcrun"
expect 2 "mcrun: unknown command 'spm'" "$mcrun" spm
expect 2 "mcrun: unknown command ''" "$mcrun" ''

# Operands and options
expect 2 'spmm: wants SPEC... MATRIX' "$mcrun" spmm
expect 2 'spmm: wants SPEC... MATRIX' "$mcrun" spmm "$spec"
expect 2 'spmm: several specs go with --variants best alone' "$mcrun" spmm "$spec" m.smtx more
expect 2 "devices: too many arguments: 'cuda:0'" "$mcrun" devices cuda:0
expect 2 '--n wants a value, N' "$mcrun" spmm "$spec" m.smtx --n
expect 0 'N 24' "$mcrun" spmm "$spec" m.smtx -n 24 --device sim
expect 2 "spmm: $spec is a spec, and m.smtx none: specs come first, then MATRIX" "$mcrun" spmm m.smtx "$spec"
expect 2 "sddmm: $2/specs/sddmm_l8r8.lua is a spec, and m.smtx none: specs come first, then MASK" "$mcrun" sddmm m.smtx "$2/specs/sddmm_l8r8.lua"
expect 2 "the spec comes first, then MATRIX" "$mcrun" pack m.smtx "$spec" --out x
expect 2 "--arch: no target is called 'sm_75'" "$mcrun" spmm "$spec" m.smtx --arch sm_75
expect 1 '--arch native: no GPU here that there are targets for' "$mcrun" spmm "$spec" m.smtx --arch native --device sim
# A spec's name, whatever there is in the folder; a path is a file.
mkdir spmm_l8r8
expect 0 'exact' "$mcrun" spmm spmm_l8r8 m.smtx --n 8 --device sim
expect 2 "spmm_l8r9: no shipped spec has this name (did you mean 'spmm_l8r4'?)" "$mcrun" spmm spmm_l8r9 m.smtx --device sim
cp "$spec" own
expect 2 'spmm: m.smtx is a matrix, not a spec: the arguments are specs, then one MATRIX' "$mcrun" spmm m.smtx own
expect 2 'sddmm: m.smtx is a matrix, not a spec: the arguments are specs, then one MASK' "$mcrun" sddmm m.smtx m.smtx
expect 2 'quantise: m.smtx is a matrix, not a spec: the arguments are specs alone' "$mcrun" quantise m.smtx
expect 2 'spmm: spmm_l8r8 is a spec, and m.smtx none: specs come first' "$mcrun" spmm m.smtx spmm_l8r8
expect 1 './spmm_l8r8: Is a directory' "$mcrun" spmm ./spmm_l8r8 m.smtx --device sim
expect 0 'spmm_l8r8_shared.lua' "$mcrun" tune m.smtx spmm_l8r8 spmm_l8r8_shared --n 8 --device sim --dry-run
expect 2 "spmm_l8r9: no shipped spec has this name" "$mcrun" tune spmm_l8r9 m.smtx --n 8 --device sim --dry-run
expect 0 '' "$mcrun" pack spmm_l8r8 m.smtx --out packed
cp packed/kernel.ptx spmm_l8r4
expect 0 '' "$mcrun" spmm spmm_l8r4 m.smtx --n 8 --device sim --out spmm_l8r4

check 'a spec from standard input' sh -c 'cat "$1" | "$2" spmm - m.smtx --n 8 --device sim | grep -q exact' sh "$spec" "$mcrun"
expect 2 '--output wants a value, FILE' "$mcrun" matrix-gen --rows 4 -o
# error TEXT COMMAND...: the command must fail, and say TEXT as JSON.
error() {
    local text=$1
    shift
    "$@" >error.json 2>/dev/null && complain "did not fail: $*"
    check "not '$text' as JSON: $*" test "$("$json_get" error.json error)" = "$text"
}
error 'nope.smtx: No such file or directory' "$mcrun" spmm "$spec" nope.smtx --json
error 'spmm: wants SPEC... MATRIX' "$mcrun" spmm --json
error '--wrong: unknown or ambiguous option (mcrun devices --help lists them)' "$mcrun" devices --json --wrong
error "$(printf 's.lua:1: tile_m: unknown field: a thread block has vec * warps / split rows of C: set warps and split\ns.lua:2: warps: 5 is not one of 1, 2, 3, 4, 7, 8, 11, 12, 13, 15, 16, 18, 20, 21, 22, 24, 26, 28')" \
    "$mcrun" plan s.lua m.smtx --json
error 'x?y: a matrix must be a .smtx, .mtx, .npy or .safetensors file (a .smtx or .mtx perhaps compressed, .gz)' "$mcrun" matrix-info --json "$(printf 'x\377y')"
"$mcrun" spmm "$spec" m.smtx --n 8 --device sim:limit=9 --json >limit.json 2>/dev/null
check 'a fault is not the verdict alone' test "$("$json_get" limit.json verdict)" = failed
expect 2 '--json=1: this option takes no value' "$mcrun" devices --json=1
expect 2 '--help=1: this option takes no value' "$mcrun" devices --help=1
expect 2 'pack: --out is missing' "$mcrun" pack "$spec" m.smtx
expect 2 'pack: --out is missing' "$mcrun" pack "$spec" m.smtx --out ''

# Numbers are whole tokens in a range
for number in '' x 1x 0x10 ' 1' +1 1.5 0 -1 2147483648 99999999999999999999; do
    expect 2 "--n: '$number' is not a whole number from 1 to 2147483647" \
        "$mcrun" spmm "$spec" m.smtx --n "$number"
done
expect 2 "--seed: '9223372036854775808' is not" "$mcrun" spmm "$spec" m.smtx --seed 9223372036854775808
for number in '' x 0.5x 1.1 -0.1 nan inf 1e999 0x1p-1; do
    expect 2 "--sparsity: '$number' is not a number from 0 to 1" \
        "$mcrun" matrix-gen --rows 4 --cols 4 --sparsity "$number"
done
expect 2 "--law: 'real' is not one of uniform|realistic" \
    "$mcrun" matrix-gen --rows 4 --cols 4 --sparsity 0.5 --law real
expect 2 "--variants: 'some' is not one of all|best|tuned" "$mcrun" spmm "$spec" m.smtx --variants some
expect 2 "--set: 'vec' is not field=value" "$mcrun" spmm "$spec" m.smtx --set vec
expect 2 "--set: '=8' is not field=value" "$mcrun" spmm "$spec" m.smtx --set =8
many=$(for _ in $(seq 33); do echo --set vec=8; done)
expect 2 'more than 32 settings' "$mcrun" spmm "$spec" m.smtx $many

# Options that exclude or want each other
expect 2 '--variants all and --variant exclude' "$mcrun" spmm "$spec" m.smtx --variants all --variant 0
expect 2 '--variants all and --ptx exclude' "$mcrun" spmm "$spec" m.smtx --variants all --ptx x
expect 2 '--variants all and --out exclude' "$mcrun" spmm "$spec" m.smtx --variants all --out x
expect 2 '--variants best and --variant exclude' "$mcrun" spmm "$spec" m.smtx --variants best --variant 0
expect 2 '--variants best and --ptx exclude' "$mcrun" spmm "$spec" "$spec" m.smtx --variants best --ptx x
expect 2 '--dilate and --union exclude' "$mcrun" spmm "$spec" m.smtx --dilate --union
expect 2 'wants either --rows, or --m and --vec' "$mcrun" matrix-gen --cols 4 --sparsity 0
expect 2 'wants either --rows, or --m and --vec' "$mcrun" matrix-gen --rows 4 --m 8 --vec 2 --cols 4 --sparsity 0
expect 2 '--m and --vec go together' "$mcrun" matrix-gen --m 8 --cols 4 --sparsity 0
expect 2 '--m 9 is not a multiple of --vec 2' "$mcrun" matrix-gen --m 9 --vec 2 --cols 4 --sparsity 0
expect 2 '--cols is missing' "$mcrun" matrix-gen --rows 4 --sparsity 0
expect 2 '--sparsity is missing' "$mcrun" matrix-gen --rows 4 --cols 4
expect 2 '--cv goes with --law realistic' "$mcrun" matrix-gen --rows 4 --cols 4 --sparsity 0 --cv 0.2
expect 2 '--band goes with --law band' "$mcrun" matrix-gen --rows 4 --cols 4 --sparsity 0 --band 2
expect 2 '--degree goes with --law power, bipartite, heavy' "$mcrun" matrix-gen --rows 4 --cols 4 --sparsity 0 --degree 2
expect 2 '--sparsity goes with --law uniform, realistic, band, blocks' "$mcrun" matrix-gen --law 2:4 --rows 4 --cols 4 --sparsity 0
expect 2 '--rows goes with --law uniform, realistic, band, 2:4,' "$mcrun" matrix-gen --law mesh --grid 4x4 --rows 16
expect 2 '--degree is missing' "$mcrun" matrix-gen --law power --rows 4 --cols 4
expect 2 '--grid is missing' "$mcrun" matrix-gen --law mesh
expect 2 '--law band wants either --sparsity or --fill' "$mcrun" matrix-gen --law band --rows 4 --cols 4
expect 2 '--law band wants either --sparsity or --fill' "$mcrun" matrix-gen --law band --rows 4 --cols 4 --fill 0.5 --sparsity 0.5
for grid in 4 4x 4x0 x4 4x4x4x4 4x4y 4X4 4x99999999999999999999 ''; do
    expect 2 "--grid $grid: two or three sizes from 1 on, such as 100x80x60" "$mcrun" matrix-gen --law mesh --grid "$grid"
done
expect 2 '--block 3x3x3: two sizes from 1 on' "$mcrun" matrix-gen --law blocks --rows 4 --cols 4 --sparsity 0 --block 3x3x3
expect 2 'must be 0 to 2, half of the 4 columns' "$mcrun" matrix-gen --law power --rows 4 --cols 4 --degree 3
expect 2 '--output m.mtx.gz: it is written as text' "$mcrun" matrix-gen --law mesh --grid 4x4 -o m.mtx.gz
expect 2 'at most 2147483647 unknowns' "$mcrun" matrix-gen --law mesh --grid 99999x99999

# Specs and settings: exit 2, files that cannot be read: exit 1
expect 2 'vec' "$mcrun" spmm "$spec" m.smtx --vec 7 --device sim
expect 2 'sm_12' "$mcrun" spmm "$spec" m.smtx --arch sm_12 --device sim
expect 2 'no_such' "$mcrun" spmm "$spec" m.smtx --set no_such=1 --device sim
expect 2 '123456' "$mcrun" spmm "$spec" m.smtx --variant 123456 --device sim
for device in gpu sim:seed=0; do
    expect 2 "device '$device': want auto, sim, sim:reversed, sim:seed=N (N from 1 on) or cuda:I" "$mcrun" spmm "$spec" m.smtx --device $device
done
expect 1 'absent.lua' "$mcrun" spmm absent.lua m.smtx
expect 1 'absent.smtx' "$mcrun" spmm "$spec" absent.smtx
expect 1 'absent.smtx' "$mcrun" matrix-info absent.smtx
expect 1 'bad.smtx:3' "$mcrun" matrix-info bad.smtx
expect 1 'absent.npy' "$mcrun" spmm "$spec" m.smtx --device sim --b absent.npy
expect 1 'absent.npy' "$mcrun" spmm "$spec" m.smtx --device sim --a absent.npy
expect 1 'absent.ptx' "$mcrun" spmm "$spec" m.smtx --device sim --ptx absent.ptx
expect 2 '--ldb is 255, less than N = 256' "$mcrun" spmm "$spec" m.smtx --device sim --ldb 255
tiled=$(dirname "$spec")/spmm_l8r8_tiled.lua
expect 2 '--ldb is 250, less than N = 256' "$mcrun" spmm "$tiled" m.smtx --device sim --ldb 250
expect 2 '--ldb is 264, not a multiple of the 16 that the kernel needs: 272 is one' "$mcrun" spmm "$tiled" m.smtx --device sim --ldb 264
expect 2 'with N = 65 and no --ldb it is 65, not a multiple of the 16 that the kernel needs: --ldb 80 is one' "$mcrun" spmm "$tiled" m.smtx --device sim --n 65
expect 2 'with N = 38 and no --ldb it is 38, not a multiple of the 32 that' "$mcrun" spmm "$tiled" m.smtx --device sim --n 38 --set rhs=u4
expect 2 'with N = 36 and no --ldb it is 36, not a multiple of the 8 that' "$mcrun" spmm "$tiled" m.smtx --device sim --n 36 --set rhs=s16 --set tile_n=64
expect 2 'with N = 29 and no --ldb it is 29, not a multiple of the 8 that the kernel needs: --ldb 32 is one' "$mcrun" spmm "$(dirname "$spec")/spmm_f16_tiled.lua" m.smtx --device sim --n 29
expect 1 'k is fixed at 256 in this kernel, the problem has 37' "$mcrun" sddmm "$(dirname "$spec")/sddmm_f16_window.lua" m.smtx --device sim --k 37
expect 2 '--lda is 260, not a multiple of the 8 that the kernel needs: 264 is one' "$mcrun" sddmm "$(dirname "$spec")/sddmm_f16_window.lua" m.smtx --device sim --lda 260
expect 2 '--ldc is 7, less than N = 8' "$mcrun" spmm "$spec" m.smtx --device sim --n 8 --ldc 7
expect 1 '--bench: the simulator has no time to measure' "$mcrun" spmm "$spec" m.smtx --device sim --bench
expect 2 'must be a .smtx, .mtx, .npy or .safetensors file' "$mcrun" matrix-info .
finish
