#!/usr/bin/env bash
# mcgen's command line: exit statuses, messages, and that a failed run leaves nothing. cli.sh MCGEN SPECS
set -u
mcgen=$1
specs=$2
. "$(dirname "$0")/../expect.sh"
spec=$specs/spmm_l8r8.lua
cd "$work" || exit 1

# -- Output --------------------------------------------------------------------------------------------------------
expect 0 ".visible .entry spmm_" "$mcgen" "$spec"
expect 0 "" "$mcgen" "$spec" -o kernel.ptx
check "-o and stdout differ" cmp kernel.ptx <("$mcgen" "$spec")
check "two runs differ" cmp <("$mcgen" "$spec") <("$mcgen" "$spec")
cp "$spec" moved.lua
check "the spec's folder shows in the PTX" diff <("$mcgen" "$spec" | grep -v '^// Made by') <("$mcgen" moved.lua | grep -v '^// Made by')
expect 0 ".target sm_120" "$mcgen" --arch sm_120 "$spec"
expect 0 ".version 8.7" "$mcgen" --arch sm_120 "$spec"
expect 0 ".version 7.0" "$mcgen" "$spec"
expect 0 "tile_n=32" "$mcgen" --set tile_n=32 "$spec"
expect 0 "mcgen 0." "$mcgen" --version
check "no generator in --version" grep -qE '^mcgen 0\.[0-9.]+, generator [0-9a-f]{16}$' <("$mcgen" --version)
expect 0 "usage: mcgen" "$mcgen" --help
expect 0 "usage: mcgen" "$mcgen" -h
expect 0 "tile_n" "$mcgen" --help spmm
expect 2 "--arch: no target is called 'sm_75' (did you mean 'sm_80'?)" "$mcgen" --arch sm_75 "$spec"
check "a spec from standard input" cmp <("$mcgen" - <"$spec" | grep -v '^// Made by') <("$mcgen" "$spec" | grep -v '^// Made by')
check "a shipped spec by its name" cmp <("$mcgen" spmm_l8r8 | grep -v '^// Made by') <("$mcgen" "$spec" | grep -v '^// Made by')
expect 0 "spmm_l8r8_tiled" "$mcgen" --list-specs
check "--list-specs has not all specs" test "$("$mcgen" --list-specs | sort)" = "$(cd "$specs" && ls -- *.lua | sed 's/.lua$//' | sort)"
for name in $("$mcgen" --list-specs); do check "$name is no spec" "$mcgen" "$name" -o named.ptx; done
echo 'op = "sddmm"' >spmm_l8r8
expect 0 ".visible .entry spmm_" "$mcgen" spmm_l8r8
expect 0 ".visible .entry sddmm_" "$mcgen" ./spmm_l8r8
expect 0 "" "$mcgen" spmm_l8r8 -o spmm_l8r8
expect 2 "ssmm_l8r8: no shipped spec has this name (did you mean 'spmm_l8r8'?)" "$mcgen" ssmm_l8r8
expect 2 "kernel: no shipped spec has this name; mcgen --list-specs lists them, and a file is named by its path: ./kernel" "$mcgen" kernel
expect 2 "--list-specs goes without a spec" "$mcgen" --list-specs spmm_l8r8
expect 2 "only one of" "$mcgen" --list-specs --check
expect 0 "ceil(m / 8)" "$mcgen" --describe "$spec"
expect 0 'n must be at most 2147467262' "$mcgen" --describe --set rows_per_warp=8 --set warps=16 --set hold=16 "$specs/softmax_csr_f16.lua" # 2^31 - 2 - 2 * threads * hold
expect 0 '"register_estimate"' "$mcgen" --describe --json "$spec"
expect 0 'scale    f32  scale of every sum' "$mcgen" --describe --set out=f32 --set scale=tensor "$spec"
expect 0 'C = bf16(fma(f32(sum), scale, bias)); 16-byte' "$mcgen" --describe --set out=bf16 --set scale=row --set bias=row "$spec"
expect 0 'C = f16(max(f32(sum) * scale, 0)); 16-byte' "$mcgen" --describe --set act=relu "$specs/spmm_l8r8_f16.lua"
check "an entry's name does not tell relu" grep -q '^.visible .entry spmm_s8s8f16_relu_v8' <("$mcgen" --set act=relu "$specs/spmm_l8r8_f16.lua")
expect 0 'f16[m][ldc], row-major' "$mcgen" "$specs/spmm_l8r8_f16.lua"
check "a field at its quiet default shows" test "$("$mcgen" "$spec" | grep -c 'bias=\|scale=\|act=')" = 0
check "hashes of outputs repeat" test "$(for o in f16 bf16; do for b in none row; do for a in none relu; do "$mcgen" --list-variants --set out=$o --set bias=$b --set act=$a "$specs/spmm_l8r8_f16.lua"; done; done; done | cut -d' ' -f2 | sort | uniq -d | wc -l)" = 0
expect 0 '"hash"' "$mcgen" --list-variants --json "$spec"
"$mcgen" --list-variants --registers "$spec" >registers.txt
check "--registers has other variants" cmp <(cut -d' ' -f1,2,4- registers.txt) <("$mcgen" --list-variants "$spec")
registers=$(sed -n 8p registers.txt | cut -d' ' -f3)
check "--registers and --describe differ" grep -q "register_estimate *$registers " <("$mcgen" --describe --variant 7 "$spec")
expect 0 "\"register_estimate\":$registers}" "$mcgen" --list-variants --registers --json "$spec"
check "registers that nobody asked for" test "$("$mcgen" --list-variants --json "$spec" | grep -c register)" = 0
expect 2 "--registers goes with --list-variants" "$mcgen" --registers "$spec"
expect 0 "" "$mcgen" --check "$spec"
check "--check wrote something" test ! -s stdout
check "fewer than 40 variants" test "$("$mcgen" --list-variants "$spec" | wc -l)" -ge 40
check "hashes repeat" test -z "$("$mcgen" --list-variants "$spec" | cut -d' ' -f2 | sort | uniq -d)"
hash=$("$mcgen" --list-variants "$spec" | sed -n 8p | cut -d' ' -f2)
check "--variant 7 is not its hash" cmp <("$mcgen" --variant 7 "$spec") <("$mcgen" --variant "$hash" "$spec")
check "a hash depends on other candidates" \
    test "$("$mcgen" --set tile_n=64 --set warps=4 --set split=4 --set stride=32 --set prefetch=on --list-variants "$spec" | cut -d' ' -f2)" = \
    "$("$mcgen" --list-variants "$spec" | grep 'stride=32 tile_n=64 warps=4 split=4 prefetch=on' | cut -d' ' -f2)"


# -- 4-bit mma that nobody asked for -----------------------------------------------------------------------------------
noted() { "$mcgen" "$@" 2>&1 >/dev/null | grep -c 'note: this kernel for sm_80 has mma of 4 bits'; }
check "no note" test "$(noted "$specs/spmm_l8r4.lua")" = 1
check "no note of the header's" test "$(noted --header "$specs/spmm_l8r4.lua")" = 1
check "a note though the target was named" test "$(noted --arch sm_80 "$specs/spmm_l8r4.lua")" = 0
check "a note though the mma was named" test "$(noted --set mma=int4 "$specs/spmm_l8r4.lua")" = 0
check "a note without 4-bit mma" test "$(noted --set mma=int8 "$specs/spmm_l8r4.lua")$(noted "$spec")" = 00
check "a note of a listing" test "$(noted --list-variants "$specs/spmm_l8r4.lua")" = 0

# -- Fields ---------------------------------------------------------------------------------------------------------
while read -r index hash fields; do
    [ $((index % 40)) = 7 ] || continue
    expect 0 "\"hash\": \"$hash\"" "$mcgen" --describe --json --fields "$fields"
    check "fields of variant $index make other PTX" cmp <("$mcgen" --fields "$fields") <("$mcgen" --variant "$index" "$spec" | sed 's/ from spmm_l8r8.lua,/,/')
done < <("$mcgen" --list-variants "$spec")
expect 0 "// Made by mcgen 0." "$mcgen" --fields "op=spmm"
expect 0 "" "$mcgen" --check --fields "op=spmm tile_n=32"
expect 0 "" "$mcgen" --fields "op=spmm" -o fields.ptx
expect 2 "fields: op: missing" "$mcgen" --fields ""
expect 2 "fields: tile_nn: unknown field (did you mean 'tile_n'?)" "$mcgen" --fields "op=spmm tile_nn=32"
expect 2 "fields: warps: want name=value" "$mcgen" --fields "op=spmm warps"
expect 2 "fields: vec: stands twice" "$mcgen" --fields "op=spmm vec=8 vec=8"
expect 2 "it does not go with $spec" "$mcgen" --fields "op=spmm" "$spec"
expect 2 "it does not go with --set and --arch" "$mcgen" --fields "op=spmm" --arch sm_90
expect 2 "it does not go with --variant" "$mcgen" --fields "op=spmm" --variant 1
expect 2 "it does not go with --list-variants" "$mcgen" --fields "op=spmm" --list-variants

# -- Fixed shapes ----------------------------------------------------------------------------------------------------
fixed="--set m=512 --set n=256 --set k=4608 --set ldb=256 --set ldc=256"
# shellcheck disable=SC2086
"$mcgen" $fixed "$spec" -o fixed.ptx
check "a fixed shape is still a parameter" test "$(grep -c '\.param \.s32' fixed.ptx)" = 0
check "a guard that can be proven away remains" test "$(grep -c EDGE fixed.ptx)" = 0
check "ldb is not an immediate" grep -q 'mad.wide.s32 .*, 256, %base0' fixed.ptx

"$mcgen" --set m=24 --set warps=4 --set split=1 "$spec" -o guarded.ptx
check "a fixed m is still a parameter" test "$(grep -c 'param .s32 m' guarded.ptx)" = 0
cp "$spec" 'größe.lua'
check "the PTX of a spec with a strange name is not ASCII" test "$("$mcgen" größe.lua | LC_ALL=C grep -c '[^ -~]')" = 0

# -- Wrong usage -----------------------------------------------------------------------------------------------------
expect 2 "no spec given" "$mcgen"
expect 2 "one spec at a time" "$mcgen" "$spec" "$spec"
expect 2 "try mcgen --help" "$mcgen" --nonsense "$spec"
expect 2 "FIELD=VALUE" "$mcgen" --set tile_n "$spec"
expect 2 "--set: tile_n: 33 is not one of 1, 2, 4, 8, 16, 32, 64, 128, 256" "$mcgen" --set tile_n=33 "$spec"
expect 2 "did you mean 'tile_n'" "$mcgen" --set tile_nn=32 "$spec"
expect 2 "--arch: no target is called 'sm_91' (did you mean 'sm_90'?)" "$mcgen" --arch sm_91 "$spec"
expect 2 "--arch: no target is called '90'" "$mcgen" --arch 90 "$spec"
expect 2 "did you mean \"sm_90\"" "$mcgen" --set arch=sm_91 "$spec"
expect 2 "there are 120" "$mcgen" --variant 120 "$spec"
expect 2 "no variant has the hash" "$mcgen" --variant 0123456789abcdef "$spec"
expect 2 "an index or a hash" "$mcgen" --variant x "$spec"
expect 2 "no kernel family" "$mcgen" --help spam
expect 2 "only one of" "$mcgen" --check --describe "$spec"
expect 2 "--json goes with" "$mcgen" --json "$spec"
for options in "--list-variants --set tile_n=33 $spec" "--describe --variant 999 $spec" "--list-variants --nonsense" "--check" "--describe" "--describe no.lua"; do
    # shellcheck disable=SC2086
    "$mcgen" --json $options >error.json 2>/dev/null
    check "no JSON of the failure: $options" grep -q '^{"error":".*"}$' error.json
done
expect 2 "m: 9 is not a multiple" "$mcgen" --set m=9 "$spec"
expect 2 "ldb: 5 is less than n" "$mcgen" --set n=8 --set ldb=5 "$spec"
expect 2 "grid's limit" "$mcgen" --set n=2147483647 --set tile_n=32 "$spec"
expect 2 "takes one value" "$mcgen" --set vec=8,4 "$spec"
expect 2 "stands twice" "$mcgen" --set tile_n=32,32 "$spec"
expect 2 "ldb: 4 is less than n" "$mcgen" --set warps=1 --set split=4 --set m=9 --set n=8 --set ldb=4 "$spec"
expect 2 "m: 9 is not" "$mcgen" --set warps=1 --set split=4 --set m=9 --set n=8 --set ldb=4 "$spec"
printf 'op = "spmm"\nm = 9\ntile_m = 1\n' >two.lua
expect 2 "two.lua:2: m: 9 is not a multiple" "$mcgen" two.lua
expect 2 "n: a text of 67 characters is not" "$mcgen" --set n=0000000000000000000000000000000000000000000000000000000000000002567 "$spec"
expect 0 "" "$mcgen" --set "n= 256 " "$spec"
expect 2 'n: "2 56" is not' "$mcgen" --set "n=2 56" "$spec"
expect 2 'tile_n: "" is not' "$mcgen" --set "tile_n=32, ,64" "$spec"
check "blanks in a list" cmp <("$mcgen" --list-variants --set "tile_n=32, 64" "$spec") <("$mcgen" --list-variants --set tile_n=32,64 "$spec")
expect 2 'spmm_l8r8.lua: scale: out = "bf16" wants one: "tensor", "row" or "column"' "$mcgen" --set out=bf16 "$spec"
expect 2 '--set: scale: out = "s32" is the sums as they are' "$mcgen" --set scale=row "$spec"
expect 2 '--set: bias: out = "s32" is the sums as they are' "$mcgen" --set bias=row "$spec"
expect 2 '--set: b_scale: out = "s32" is the sums as they are: scales go with f16, bf16, f32, s8, u8, s4, u4, e4m3 and e5m2' "$mcgen" --set b_scale=column "$spec"
expect 2 'c_scale: out = "f16" has no scale of its own: that goes with s8, u8, s4, u4, e4m3 and e5m2' "$mcgen" --set out=f16 --set scale=row --set c_scale=tensor "$spec"
expect 2 'zero: out = "e4m3" has no zero point' "$mcgen" --arch sm_90 --set out=e4m3 --set scale=row --set zero=tensor "$spec"
expect 2 'zero: out = "f32" has no zero point: that goes with s8, u8, s4 and u4' "$mcgen" --set out=f32 --set scale=row --set zero=tensor "$spec"
expect 2 'scale: out = "s8" wants one: "tensor", "row" or "column"' "$mcgen" --set out=s8 "$spec"
expect 2 '--set: act: out = "s32" is the sums as they are: "relu" goes with f16, bf16, f32, s8, u8, s4, u4, e4m3 and e5m2' "$mcgen" --set act=relu "$spec"
expect 2 'bias: "tensor" is not one of "none", "row", "column"' "$mcgen" --set bias=tensor "$specs/spmm_l8r8_f16.lua"
printf 'op = "spmm"\nout = "f16"\n' >unscaled.lua
expect 2 'unscaled.lua: scale: out = "f16" wants one' "$mcgen" unscaled.lua

# -- Words that are no fields --------------------------------------------------------------------------------------------
hint() { expect 2 "--set: $2: unknown field$3" "$mcgen" --set "$2=32" "$specs/$1"; }
hint spmm_l8r8.lua tile_m ": a thread block has vec * warps / split rows of C: set warps and split"
hint spmm_l8r8.lua BM ": a thread block has vec * warps / split rows of C"
hint spmm_l8r8.lua tile_k ': a warp takes `stride` nonzero vectors at a time, whatever k is: set stride'
hint spmm_l8r8.lua BLOCK_N ": columns of C that a thread block has are tile_n"
hint spmm_l8r8.lua precision ': lhs and rhs are the types of A and B (L16-R4: lhs = "s16", rhs = "s4"), out is that of C'
hint spmm_l8r8.lua M " (did you mean 'm'?)"
hint spmm_l8r8.lua Tile_N " (did you mean 'tile_n'?)"
hint spmm_l8r8.lua lda ": sddmm has one, spmm has none"
hint spmm_l8r8.lua wraps " (did you mean 'warps'?)"
hint sddmm_l8r8.lua tile_m ": a warp computes vectors of one row block, vec rows: set vec"
hint sddmm_l8r8.lua precision ': lhs and rhs are the types of A and B (L16-R8: lhs = "s16", rhs = "s8")'
hint sddmm_l8r8.lua stride ': order says how C lies: "srbcrs16" in strides of 16 vectors'
hint sddmm_l8r8.lua stacking ": spmm has one, sddmm has none"
hint sddmm_l8r8.lua zzz ""
check "a word that nothing is like gets a hint" grep -q 'unknown field$' "$work/stderr"

# -- What is on or off ---------------------------------------------------------------------------------------------------
stacks() { "$mcgen" --set lhs=s16 --set vec=4 --set digits=balanced --list-variants --set "stacking=$1" "$spec"; }
check "stacking = true is not on" cmp <(stacks true) <(stacks on)
check "stacking = false is not off" cmp <(stacks false) <(stacks off)
check "stacking is not listed" test "$(stacks auto | grep -c stacking=auto)" = "$(stacks true | grep -c stacking=on)"
expect 2 'stacking: a candidate stands twice' stacks on,true
printf 'op = "spmm"\nlhs = "s16"\nvec = 4\ndigits = "balanced"\nstacking = {"auto", true, false}\n' >mixed.lua
check "a list of names and booleans" test "$("$mcgen" --list-variants mixed.lua | grep -o 'stacking=[a-z]*' | tr '\n' ' ')" = \
    "stacking=auto stacking=on stacking=off "
expect 2 'stacking: vec = 8 fills' "$mcgen" --set vec=8 --set stacking=true mixed.lua
expect 2 'stacking: "yes" is not one of "auto", "off", "on", true, false' stacks yes
expect 2 'prefetch: "yes" is not one of "on", "off", true, false' "$mcgen" --set prefetch=yes "$spec"
expect 2 'out: true is not one of "s32", "f16"' "$mcgen" --set out=true "$spec"

# -- Digits ------------------------------------------------------------------------------------------------------------
digits() { "$mcgen" --set lhs=s16 --set vec=2 "${@:1:$#-1}" --set "digits=${*: -1}" "$spec"; }
stride_mma() { grep -oP '"stride_mma": \K[0-9]+' "$work/stdout"; }
expect 2 "stacking: vec = 8 fills the mma's 8 columns: there is nothing to stack" "$mcgen" --set stacking=on "$spec"
expect 2 'stacking: lhs = "s8" is one digit: there is nothing to stack' "$mcgen" --set stacking=on --set vec=4 "$spec"
expect 2 'stacking: the top digit of lhs = "s16" has a sign, the others have none: digits = "balanced" or "offset"' \
    digits --set stacking=on top-signed
expect 2 'stacking: 2 digits of 4 rows leave no column of the mma for the ones of digits = "offset"' \
    digits --set stacking=on --set vec=4 offset
expect 2 'digits: "balanced" is for a signed lhs of several digits, not for "u16"' digits --set lhs=u16 balanced
expect 2 'digits: "balanced" is for a signed' digits --set lhs=u16 --set stacking=on balanced
check "digits that are refused bring a second error, about stacking" test "$(wc -l <"$work/stderr")" = 1
expect 2 'digits: "offset" is for a signed lhs of several digits, not for "s8"' digits --set lhs=s8 offset
expect 2 'digits: "offset" wants a free column of the mma: vec = 8 leaves none' digits --set vec=8 offset

# -- Panels: what is said of them speaks of panels ----------------------------------------------------------------------
panels() { "$mcgen" --arch sm_80 --set scale=tensor --set share=4 --set values=slots "$@" "${spec%/*}/spmm_csr_f16.lua"; }
for panel in 8 16; do
    tells() { # WANT SETTINGS...: one error
        expect 2 "$1" panels --set panel=$panel --set lhs=s8 --set rhs=s8 "${@:2}"
        check "one error: $*" test "$(wc -l <"$work/stderr")" = 1
    }
    tells "digits: \"offset\" wants a free column of the mma: panel = $panel leaves none" --set lhs=s16 --set digits=offset
    tells "stacking: panel = $panel fills the mma's $panel" --set lhs=s16 --set stacking=on
    tells 'panel: panels are multiplied in swapped order: order = "swapped"' --set order=paper
    tells 'panel: panels have no mma of 4 bits' --set lhs=s4 --set rhs=s4 --set mma=int4
    tells 'precision_split: mma = "int8" multiplies digits of 8 bits: "8"' --set rhs=s4 --set precision_split=4+4
    tells 'panel: panels are of matrices without vectors: vec = 1' --set vec=8
    tells 'panel: values of panels come packed: heads = "on"' --set heads=off
    tells 'panel: panels are single products: batch = "off"' --set batch=on
done
expect 2 'tile_n: panel = 16 leaves no registers for 256 columns: 128' panels --set panel=16 --set lhs=s8 --set rhs=s4 --set tile_n=256 --set warps=2

# -- A residual's factor ------------------------------------------------------------------------------------------------
beta() { "$mcgen" --arch sm_90 --set beta=tensor "$@"; }
expect 2 'beta: is the residual'"'"'s factor, and there is none' beta "${spec%/*}/spmm_f16.lua"
expect 2 'beta: goes with a row-major C: c_major = "row"' beta --set residual=f16 --set c_major=column "${spec%/*}/spmm_f16.lua"
expect 2 'beta: staging = "tma" adds a residual as it is: leave it out' beta --set residual=f16 "${spec%/*}/spmm_f16_tiled.lua"
expect 0 'C = f16(sum + beta * residual)' beta --set residual=f16 --describe "${spec%/*}/spmm_f16.lua"

# -- Vectors of 16 rows ------------------------------------------------------------------------------------------------
tall() { "$mcgen" --arch sm_80 --set vec=16 "$@" "$spec"; }
expect 2 "stacking: vec = 16 fills the mma's 16 rows: there is nothing to stack" tall --set stacking=on
expect 2 'digits: "offset" wants a free column of the mma: vec = 16 leaves none' tall --set lhs=s16 --set digits=offset
expect 2 'order: "paper" takes vec = 1, 2, 4 or 8: its mma has 8 rows of A' tall --set order=paper
for four in mma=int4 precision_split=4+4; do
    expect 2 "${four%=*}: 4-bit mma take vec = 1, 2, 4 or 8: vec = 16 wants mma = \"int8\"" tall --set rhs=s4 --set $four
    check "one error: $four" test "$(wc -l <"$work/stderr")" = 1
done
expect 0 m16n8k32.row.col.s32.s8.u8 tall --set rhs=u4 --set tile_n=128
expect 2 'tile_n: staging = "tma" reads rows of 32 elements of 32 bits, not of 16' "$mcgen" --arch sm_90 --set tile_n=16 "${spec%l8r8.lua}tf32_tiled.lua"
expect 2 'tile_n: vec = 16 leaves no registers for 256 columns: 128' tall --set rhs=s4 --set tile_n=256 --set split=1
expect 2 'together: with a residual and resident = "on" vec = 16 of lhs = "e4m3" leaves no registers' \
    "$mcgen" --set vec=16 --set residual=f16 --set c_major=column --set together=4 --set resident=on --set split=1 --set warps=4 "$specs/spmm_e4m3_tiled.lua"
expect 2 'tile_n: vec = 16 and exact sums leave no registers for 128 columns: 64' tall --set sum=exact --set out=s64 --set tile_n=128 --set split=1
expect 2 'stride: vec = 16 and 2 sums of each element leave no registers for 64: 32' tall --set lhs=s16 --set stride=64 --set tile_n=128
expect 2 'weights leave staging = "shared" no registers for 64 columns: 32' tall --set lhs=u16 --set rhs=u16 --set sum=exact --set out=s64 --set tile_n=64 --set staging=shared --set warps=1 --set split=1
expect 2 'out: "e4m3" wants sm_89 or later' "$mcgen" --arch sm_86 --set out=e4m3 --set scale=row "$spec"
expect 2 'c_major: out = "s4" has two columns in a byte, which go with "row"' "$mcgen" --set c_major=column --set out=s4 --set scale=row "$spec"
expect 2 'is less than m = 512' "$mcgen" --set c_major=column --set m=512 --set ldc=511 "$spec"
expect 2 'warps: vec = 16 leaves 8 warps no registers for 128 columns: at most 7' "$mcgen" --arch sm_90 --set vec=16 --set lhs=s16 --set tile_n=128 --set warps=8 "${spec%.lua}_tiled.lua"
expect 2 'tile_n: vec = 16 leaves no registers for 256 columns: 128' "$mcgen" --arch sm_90 --set vec=16 --set rhs=s4 --set tile_n=256 --set warps=4 "${spec%.lua}_tiled.lua"

# -- Thread blocks that share windows of k -----------------------------------------------------------------------------
parts() { "$mcgen" --arch sm_90 --set parts=4 --set split=1 --set resident=off --set together=1 --set tile_n=64 --set warps=8 "$@" "${spec%.lua}_tiled.lua"; }
expect 0 'clusters of (1, 1, 4) thread blocks' parts --describe
expect 0 'parts * m / 8 + 1' parts --describe
expect 2 'parts: wants c_major = "row"' parts --set c_major=column
expect 2 'parts: wants split = 1, not 2' parts --set split=2
expect 0 'clusters of (1, 1, 4) thread blocks' parts --set resident=on --describe
expect 2 'resident: "always" wants staging = "async"' parts --set parts=1 --set resident=always
always() { "$mcgen" --arch sm_90 --set resident=always --set staging=async --set overlap=off --set together=1 --set tile_n=64 --set warps=8 --set split=4 --set window=256 --set stages=4 "$@" "${spec%.lua}_tiled.lua"; }
expect 0 'k must be at most 1024' always --describe
expect 2 'resident: "always" wants integers' always --set lhs=f16 --set rhs=f16
expect 2 'resident: "always" takes a k of at most window * stages = 1024, not 1025' always --set k=1025
expect 2 'resident: "always" wants rows of at most 64 bytes: tile_n = 64' always --set tile_n=128
expect 2 'split: staging = "async" wants 32 columns for each warp, tile_n has 64' always --set resident=on
expect 2 'resident: rows of 16 bytes stay in any case or never: "always" or off' always --set tile_n=16 --set resident=on
expect 2 'together: wants c_major = "column"' parts --set together=4
expect 2 'parts: wants staging = "tma", not "async", or resident = "on" or "always"' parts --set staging=async
expect 2 'parts: 4 thread blocks finish as many row blocks each: warps = 2 is no multiple of 4' parts --set warps=2 --set resident=on
expect 2 'parts: 2 thread blocks finish as many row blocks each: warps = 15 is no multiple of 2' parts --set parts=2 --set warps=15 --set resident=on
expect 2 'parts: 22 warps and 11 that finish row blocks are more than 1024 threads' parts --set parts=2 --set warps=22 --set resident=on
expect 0 '.reqntid 832' parts --set warps=20 --set resident=on
expect 2 'parts: each of 8 thread blocks stores at least 16 columns, tile_n has 64' parts --set parts=8
expect 0 'clusters of (1, 1, 8) thread blocks' parts --set parts=8 --set resident=on
expect 2 'warps: more than 16 are for staging = "tma" and "async", not "direct"' "$mcgen" --set warps=20 "$spec"

# -- A part of B copied whole ------------------------------------------------------------------------------------------
whole() { "$mcgen" --set parts=2 --set stages=4 "$@" "$specs/spmm_l8r8_whole.lua"; }
expect 0 'k must be at most 2048' whole
expect 0 '.reqntid 896' whole --set warps=28
expect 2 'resident: "always" takes a k of at most parts * window * stages = 2048, not 2049' whole --set k=2049
expect 2 'resident: "on" takes a k of at most parts * window * stages = 2048, not 2049' whole --set resident=on --set warps=16 --set k=2049
expect 0 '.reqntid 800' whole --set resident=on --set parts=4 --set warps=20 --set tile_n=64
expect 2 'parts: each of 4 thread blocks stores at least 16 columns, tile_n has 32' whole --set parts=4 --set tile_n=32 --set resident=always
expect 2 'depth: 28 warps leave 3 strides no registers beside 32 sums of a thread: 2' whole --set warps=28 --set lhs=s16 --set tile_n=64 --set depth=3
expect 2 'parts: wants a product by itself: batch = "off"' whole --set batch=on
expect 2 'warps: rows of 128 bytes leave 20 warps no registers: at most 18' parts --set parts=2 --set tile_n=128 --set window=128 --set stages=3 --set warps=20
expect 2 'depth: 20 warps leave 3 strides no registers beside 32 sums of a thread: 2' parts --set warps=20 --set stages=4 --set depth=3 --set lhs=s16
expect 0 '_p2_d3(' whole --set warps=24 --set lhs=s16 --set tile_n=64 --set depth=3
expect 2 'parts: wants integers' parts --set lhs=f16 --set rhs=f16
expect 2 'parts: sm_80 has no thread block clusters' parts --arch sm_80 --set staging=async --set overlap=off
expect 2 'parts: staging = "direct" has no windows to share out: leave it out' "$mcgen" --set parts=4 "$spec"
expect 2 'the ring and the sums take' parts --set tile_n=128 --set window=256 --set stages=12

# -- Strides asked for ahead -------------------------------------------------------------------------------------------
ahead() { "$mcgen" --arch sm_90 --set split=1 --set tile_n=64 --set warps=8 --set depth=8 "$@" "${spec%.lua}_tiled.lua"; }
expect 0 'places   u64  packed array; 16-byte aligned' ahead --describe
expect 0 'control  u64  packed array; 16-byte aligned' ahead --describe --set depth=2 --set prefetch_l2=on
expect 0 'control  u64  packed array; 4-byte aligned' ahead --describe --set depth=2
expect 2 'depth: queues leave 16 warps no registers for 128 columns: at most 11 warps, or 2' ahead --set tile_n=128 --set warps=16
expect 2 'depth: vec = 16 and 128 columns leave queues no registers: fewer columns, or 2' ahead --set vec=16 --set tile_n=128 --set warps=4
expect 2 'the ring and the queues take' ahead --set tile_n=128 --set window=256 --set stages=6 --set depth=16
expect 2 'prefetch_l2: sm_80 has no bulk copies, by which L2 is asked' ahead --arch sm_80 --set staging=async --set overlap=off --set prefetch_l2=on
expect 2 'depth: staging = "direct" has no queues of strides: leave it out' "$mcgen" --set depth=4 "$spec"
expect 2 'prefetch_l2: staging = "direct" does not ask L2 for A: leave it out' "$mcgen" --set prefetch_l2=on "$spec"

for mode in balanced offset; do
    expect 0 "" digits --describe --json --set stacking=off "$mode"
    apart=$(stride_mma)
    expect 0 "" digits --describe --json "$mode"
    check "$mode: stacking does not halve the mma" test "$((2 * $(stride_mma)))" = "$apart"
done
expect 0 "k must be at most 131071" digits --describe --set rhs=s4 balanced
expect 0 "k must be at most 65793" digits --describe --set rhs=s4 offset

# -- Exact sums --------------------------------------------------------------------------------------------------------
expect 0 "exact in s32 up to 131071 vectors a row; modulo 2^32 beyond" "$mcgen" --describe "$spec"
expect 0 "k = 131072: sums up to 2147483648, which can leave s32" "$mcgen" --describe --set k=131072 "$spec"
expect 0 "one of which can leave s32: modulo 2^32" "$mcgen" --describe --set lhs=u16 --set rhs=u16 --set tile_n=64 "$spec"
expect 0 "exact in s64; s32 holds them up to 131071 vectors a row" "$mcgen" --describe --set sum=exact --set out=s64 "$spec"
expect 0 "C: s64[m][ldc], row-major" "$mcgen" --set sum=exact --set out=s64 "$spec"
expect 0 "integers, sums in s64." "$mcgen" --set sum=exact --set out=f32 --set scale=row "$spec"
expect 2 'spmm_l8r8.lua: sum: out = "s64" wants "exact"' "$mcgen" --set out=s64 "$spec"
expect 2 'out: sum = "exact" wants "s64", or "f16", "bf16", "f32", "s8", "u8", "s4", "u4", "e4m3" or "e5m2" with a scale' "$mcgen" --set sum=exact "$spec"
expect 2 'scale: out = "s64" is the sums as they are' "$mcgen" --set sum=exact --set out=s64 --set scale=row "$spec"
expect 2 'sum: "wrapped" is not one of "wrap", "exact"' "$mcgen" --set sum=wrapped "$spec"
expect 2 'split: exact sums of 8 warps take 67584 bytes of shared memory, a kernel without a ring has 49152' "$mcgen" --set sum=exact --set out=s64 \
    --set tile_n=128 --set warps=8 --set split=2 "$spec"
expect 2 'staging: sum = "exact" wants "direct" or "shared", not "tma"' "$mcgen" --set sum=exact "$specs/spmm_l8r8_tiled.lua"
expect 2 'tile_n: exact sums of 3 digits leave no registers for 128 columns: 64' "$mcgen" --set lhs=s12 --set rhs=s4 --set mma=int4 --set sum=exact \
    --set out=s64 --set tile_n=128 --set split=1 "$spec"
expect 2 'stride: exact sums of two digits leave staging = "shared" no registers for 64 at tile_n = 128: 32' "$mcgen" --set lhs=s16 --set sum=exact \
    --set out=s64 --set tile_n=128 --set stride=64 --set warps=1 --set split=1 "$specs/spmm_l8r8_shared.lua"

# -- The ring kernel ---------------------------------------------------------------------------------------------------
ring=$specs/spmm_l8r8_tiled.lua
# one TEXT ARGUMENTS...: refused with this line and no other
one() {
    expect 2 "$1" "$mcgen" "${@:2}"
    check "not one line: ${*:2}" test "$(wc -l <"$work/stderr")" = 1
}
one "staging: sm_80 has no tensor memory accelerator" --arch sm_80 --set overlap=off "$ring"
one "--set: staging: sm_89 has no tensor memory accelerator" --arch sm_89 --set staging=tma --set split=1 "$spec"
one "--set: overlap: sm_80 has no programmatic dependent launch" --set overlap=on "$spec"
# Before the launch before has finished, nothing is read but A: no scale, no bias.
waits_for_factors() {
    "$mcgen" --arch sm_90 --set overlap=on --set out=f32 --set scale="$1" --set bias="$2" "${@:3}" |
        awk '/griddepcontrol.wait/ { waited = 1 } /ld\..*factor_at/ { loads++; early += !waited } END { exit !loads || early }'
}
for by in row column; do
    check "by $by: factors are read early" waits_for_factors "$by" row "$spec"
    check "by $by, edge path alone: factors are read early" waits_for_factors "$by" column --set n=7 --set split=1 "$spec"
    check "by $by, ring: factors are read early" waits_for_factors "$by" row --set staging=async "$specs/spmm_l8r8_tiled_sm80.lua"
done
one '--set: ldb: staging = "tma" wants a multiple of 16, not 100' --set ldb=100 "$ring"
one "--set: stages: the ring takes 393408 bytes of shared memory, a thread block of sm_90 has 232448" \
    --set stages=12 --set window=256 --set split=1 "$ring"
one "--set: stages: the ring takes 131136 bytes of shared memory, a thread block of sm_120 has 101376" \
    --arch sm_120 --set stages=4 --set window=256 --set split=1 "$ring"
expect 0 "stages=3" "$mcgen" --arch sm_120 "$ring"
check "rings too large for sm_120" test "$("$mcgen" --arch sm_120 --list-variants "$ring" | grep -c 'window=256.* stages=6')" = 0
for made in "$ring" "$spec"; do
    expect 0 "k must be at most 131071" "$mcgen" --describe --set rhs=s4 --set mma=int8 "$made"
    expect 0 "k must be at most 69905" "$mcgen" --describe --set rhs=u4 --set mma=int8 "$made"
    for k in 131071 131072; do
        expect 0 "" "$mcgen" --describe --set rhs=s4 --set mma=int8 --set k="$k" "$made"
        check "k = $k is fixed and has no limit" sh -c "! grep -q 'k must be' '$work/stdout'"
    done
done
wide=$specs/spmm_l16r16_tiled.lua
expect 0 "b as u16, k x n, rows 2 ldb bytes apart; boxes of 256 x 64, 128-byte swizzle" "$mcgen" --describe "$wide"
one '--set: tile_n: rhs = "u12" wants 32 or 64: 32 to 128 bytes of a row of B' --set rhs=u12 --set tile_n=128 --set warps=8 --set window=64 "$wide"
one "--set: tile_n: two digits on both sides leave 17 warps no registers for 64 columns: 32" --set tile_n=64 --set warps=16 "$wide"
one '--set: split: staging = "tma" wants 16 columns for each warp, tile_n has 32' --set tile_n=32 --set split=4 --set warps=8 "$wide"
one '--set: ldb: staging = "tma" wants a multiple of 8, not 100' --set ldb=100 "$wide"
one '--set: ldb: staging = "async" wants a multiple of 2, not 99' --set ldb=99 --set staging=async "$wide"
one '--set: n: 7 is not a multiple of 8, which this kernel wants' --set n=7 --set store=tensor "$specs/gemm_f16.lua"
one '--set: ldc: 7 is not a multiple of 2, which this kernel wants' --set ldc=7 --set store=pairs "$specs/gemm_f16.lua"
one '--set: tile_n: 24: store = "tensor" wants a multiple of 16 columns of f16' --set tile_n=24 --set store=tensor "$specs/gemm_f16.lua"
blocks=$specs/gemm_e4m3_blocks.lua
one '--set: tile_n: 96: a tile'"'"'s columns have one scale of B, as 8, 16, 32, 64 and 128 have' --set tile_n=96 --set consumers=1 --set tile_m=64 "$blocks"
one '10: block_scales: "on" wants sums = "promoted"' --set sums=fast "$blocks"
one '10: block_scales: a batch has no scales of blocks' --set batch=on "$blocks"
one '--set: a_blocks_major: there are no scales of blocks: leave it out' --set block_scales=off --set a_blocks_major=column "$blocks"
expect 2 'block_scales: method = "mma" has no scales of blocks' "$mcgen" --set block_scales=on "$specs/gemm_f16_mma.lua"
one 'block_scales' --set block_scales=on "$specs/gemm24_e4m3_promoted.lua"
one '--set: split: 4: consumers that take turns have no parts of k' --set split=4 --set turns=on --set tile_n=64 --set store=pairs "$specs/gemm_f16.lua"
one '--set: early: without overlap the kernel ahead has always ended' --set early=on "$specs/gemm_f16.lua"
one '--set: stages: 4 stages of 49152 bytes, and C and its parts: 327760 bytes of shared memory, 232448 there are' --set split=8 --set tile_m=256 --set tile_n=128 --set store=pairs --set stages=4 --set consumers=2 "$specs/gemm_f16.lua"
expect 0 "m must be at most 2147483520" "$mcgen" --describe "$specs/gemm_f16.lua"
expect 0 "lda must be a multiple of 16" "$mcgen" --describe "$specs/gemm_s8.lua"
one '--set: rhs: staging = "async" takes 8, 12 or 16 bits' --set rhs=s4 --set staging=async --set split=1 "$ring"
expect 0 "ldb must be at most 1073741823" "$mcgen" --describe --set staging=async "$wide"
expect 0 "ldb must be a multiple of 2" "$mcgen" --describe --set staging=async "$wide"
for text in "b as bytes, k x ceil(n / 2), rows ldb / 2 bytes apart" "b at a multiple of 16 bytes" "ldb must be a multiple of 32" \
    "s4[k][ldb], row-major, the even column in a byte's low half"; do
    expect 0 "$text" "$mcgen" --describe --set rhs=s4 "$ring"
done
fours=$specs/spmm_l4r4.lua
for arch in sm_80 sm_86 sm_89; do
    expect 0 "m16n8k64.row.col.s32.s4.s4.s32" "$mcgen" --arch $arch "$fours"
    expect 0 "format strided-bcrs-int4" "$mcgen" --arch $arch --describe "$fours"
done
for arch in sm_90 sm_90a sm_100 sm_120; do
    expect 0 "m16n8k32.row.col.s32.s8.s8.s32" "$mcgen" --arch $arch "$fours"
    expect 0 "m16n8k64.row.col.s32.s4.s4.s32" "$mcgen" --arch $arch --set mma=int4 "$fours"
done
expect 0 "format strided-bcrs-int4" "$mcgen" --describe "$fours"
check "4-bit mma has a limit of k" sh -c "! grep -q 'k must be' '$work/stdout'"
expect 0 "m16n8k32.row.col.s32.s8.s8.s32" "$mcgen" --set mma=int8 "$fours"
expect 0 "m16n8k32.row.col.s32.s8.s8.s32" "$mcgen" --arch sm_90 --set staging=tma --set stride=32 --set split=1 "$fours"
one '--set: mma: "int4" takes rhs = "s4" or "u4", not "s8"' --set mma=int4 "$spec"
one '--set: mma: "int4" takes rhs = "s4" or "u4", not "u16"' --set mma=int4 --set rhs=u16 --set tile_n=64 "$spec"
one '--set: mma: "int4" takes staging = "direct" or "shared", not "tma"' --set mma=int4 --set rhs=s4 "$ring"
expect 0 "m8n8k32.row.col.s32.s4.s4" "$mcgen" --set order=paper "$fours"
expect 0 "m8n8k16.row.col" "$mcgen" --set order=paper --arch sm_90 "$fours"
one '--set: shuffle: there are nibbles to be shuffled with an int4 mma only' --set shuffle=off "$spec"
one '--set: shuffle: there are nibbles to be shuffled with an int4 mma only' --arch sm_90 --set shuffle=off "$fours"
one '--set: window: staging = "direct" has no windows of B: leave it out' --set window=64 "$spec"
one '--set: stages: staging = "direct" has no ring: leave it out' --set stages=2 "$spec"
one '--set: resident: staging = "direct" keeps nothing of B' --set resident=on "$spec"
one '--set: warps: staging = "direct" takes 1, 2, 4 or 8' --set warps=16 "$spec"
one '--set: padding: staging = "direct" has no rows to pad: only shared has' --set padding=off "$spec"
one '--set: padding: staging = "tma" has no rows to pad: only shared has' --set padding=off "$ring"
one '--set: order: staging = "tma" multiplies in swapped order only' --set order=paper "$ring"
one '--set: stages: staging = "shared" has no ring: leave it out' --set stages=2 "$specs/spmm_l8r8_shared.lua"
one '--set: stride: rows of B of 8 warps take 67584 bytes of shared memory, a kernel without a ring has 49152' \
    --set stride=64 --set warps=8 --set tile_n=128 --set split=1 "$specs/spmm_l8r8_shared.lua"
one '--set: split: staging = "tma" wants 32 columns for each warp, tile_n has 128' --set split=8 --set warps=16 --set window=64 "$ring"
one '--set: tile_n: 256 columns are for sums in s32, in swapped order, with mma = "int8"' --set tile_n=256 "$specs/spmm_l8r4.lua"
one '--set: tile_n: rhs = "s8" wants 32, 64 or 128: 32 to 128 bytes of a row of B' --set tile_n=256 --set warps=8 --set window=64 "$ring"
one '--set: tile_n: rhs = "s8" wants 32, 64 or 128: 32 to 128 bytes of a row of B' --set tile_n=256 --set warps=4 "$spec"
one '--set: tile_n: rhs = "u4" wants 64, 128 or 256: 32 to 128 bytes of a row of B' --set tile_n=32 --set rhs=u4 "$spec"
halves=$specs/spmm_l8r4_tiled.lua
one "--set: warps: 256 columns leave 16 warps no registers: at most 11" --set tile_n=256 --set warps=16 --set split=1 "$halves"
one "--set: warps: 256 columns leave 11 warps no registers: at most 7" --set tile_n=256 --set warps=11 --set scale=column "$halves"
one "--set: warps: 256 columns leave 8 warps no registers: at most 7" --set tile_n=256 --set warps=8 --set lhs=s16 "$halves"
one "--set: stride: two digits of lhs and 256 columns leave no registers for 64: 32" --set mma=int8 --set tile_n=256 --set warps=4 --set lhs=s16 --set rhs=s4 --set stride=64 "$spec"
for kind in "exact --set tile_n=128 --set sum=exact --set out=s64" "partial --set rhs=s4 --set mma=int8 --set tile_n=256"; do
    one "--set: split: ${kind%% *} sums of 8 warps take" --set staging=shared --set warps=8 --set split=2 ${kind#* } "$spec"
done
one "--set: stride: rows of B of 8 warps take 67584 bytes" --set staging=shared --set tile_n=128 --set warps=8 --set stride=64 --set split=2 "$spec"
expect 2 "split: partial sums of 8 warps take 75776 bytes of shared memory, a kernel without a ring has 49152: a smaller tile_n or fewer warps" \
    "$mcgen" --set mma=int8 --set tile_n=256 --set warps=8 --set split=2 --set rhs=s4 "$spec"
one "--set: split: 15 warps cannot be shared out by 2" --set warps=15 --set split=2 "$ring"
one "--set: stages: the ring and the sums take 245856 bytes of shared memory, a thread block of sm_90 has 232448" \
    --set warps=16 --set split=4 --set stages=6 --set window=256 "$ring"
one '--set: stride: staging = "tma" takes 32 at a time' --set stride=64 "$ring"
one '--set: prefetch: staging = "tma" always prefetches' --set prefetch=off "$ring"
one '--set: align: staging = "tma" wants 16' --set align=4 "$ring"
one "--set: window: 100 is not one of 64, 128, 256" --set window=100 "$ring"
one "--set: stages: 9 is not one of 2, 3, 4, 5, 6, 7, 8, 12, 14" --set stages=9 "$ring"

# -- Rings that want registers -----------------------------------------------------------------------------------------
sparse() { "$mcgen" --set sparse_mma=on --set depth=2 --set resident=off --set vec=16 --set warps=8 --set split=1 --set overlap=off "$@"; }
tiled=$specs/spmm_l8r8_tiled.lua
expect 0 '_sparse(' sparse "$tiled"
expect 2 'sparse_mma: wants integers' sparse "$specs/spmm_e4m3_tiled.lua"
expect 2 'sparse_mma: wants an rhs of 8 to 16 bits' sparse "$specs/spmm_l8r4_tiled.lua"
expect 2 'sparse_mma: wants vec = 16, not 8' sparse --set vec=8 "$tiled"
expect 2 'sparse_mma: leaves 16 warps no registers for 48 sums of a thread: at most 15' sparse --set warps=16 --set lhs=s16 --set rhs=s16 --set tile_n=32 --set stages=3 "$tiled"
expect 0 '_sparse(' sparse --set warps=16 --set tile_n=64 --set stages=3 "$tiled"
expect 2 'vec = 16 leaves 16 warps no registers for 128 columns: at most 15' sparse --set warps=16 --set stages=3 "$tiled"
expect 0 '_sparse(' sparse --set warps=15 --set stages=3 "$tiled"
expect 0 'values   u64  packed array; 16-byte aligned' sparse --header "$tiled"
expect 2 'sparse_mma: wants resident = "off"' sparse --set resident=on "$tiled"
expect 2 'sparse_mma: wants staging = "tma", not "async"' sparse --set window=1024 --set stages=2 "$specs/spmm_l8r8_tiled_sm80.lua"
expect 2 'sparse_mma: loads strides ahead itself: depth = 2, not 4' sparse --set depth=4 "$tiled"
expect 0 '_sparse_g16(' sparse --set group=16 "$tiled"
expect 2 'group: wants resident = "off" and parts = 1' sparse --set sparse_mma=off --set resident=on --set group=8 "$tiled"
expect 2 'group: wants staging = "tma", not "async"' sparse --set sparse_mma=off --set vec=8 --set group=8 --set window=1024 --set stages=2 "$specs/spmm_l8r8_tiled_sm80.lua"
expect 2 'group: 9 is not one of "all", "8", "16", "32"' sparse --set group=9 "$tiled"
parted() { "$mcgen" --set resident=on --set warps=8 --set stages=4 --set depth=2 --set parts=2 --set vec=16 --set tile_n=64 "$@" "$specs/spmm_l8r8_split.lua"; }
expect 0 '.reqntid 416' parted
expect 2 'resident: warps that finish row blocks leave no registers for vec = 16 and 64 columns' parted --set lhs=s16 --set rhs=s16
expect 0 '_p2_d3(' parted --set vec=8 --set depth=3
expect 2 'depth: vec = 16 and rows of 64 bytes leave 3 strides no registers: 2' parted --set depth=3
expect 2 'depth: vec = 8 and rows of 128 bytes leave 3 strides no registers: 2' sparse --set sparse_mma=off --set vec=8 --set depth=3 "$tiled"
expect 2 'depth: 3 wants an rhs of 4 to 16 bits' "$mcgen" --set depth=3 "$specs/spmm_tf32_tiled.lua"
expect 2 'depth: 3 wants staging = "tma" or resident = "always", not "async"' sparse --set sparse_mma=off --set vec=8 --set depth=3 --set window=1024 --set stages=2 "$specs/spmm_l8r8_tiled_sm80.lua"
expect 2 'depth: 16 warps and those that finish row blocks leave 3 strides no registers beside 32 sums of a thread: 2' parted --set vec=8 --set depth=3 --set warps=16 --set lhs=s16
expect 2 'sparse_mma: loads strides ahead itself: depth = 2, not 3' sparse --set depth=3 "$tiled"

# -- Dense fragments ---------------------------------------------------------------------------------------------------
fragments() { "$mcgen" "$@" "$specs/spmm_l8r8_fragments.lua"; }
expect 2 'stream_k: tiles are dealt out along k in one way: parts = 1' fragments --set stream_k=on --set parts=2
expect 2 'k: 954437121: with stream_k at most 954437120' fragments --set stream_k=on --set parts=1 --set k=954437121
expect 0 'k must be at most 954437120' fragments --set stream_k=on --set parts=1 --describe
expect 2 'warps: staging = "fragments" wants 4, 8 or 12 warps, not 2' fragments --set warps=2
# One wgmma of 256 columns does not fit the registers of half a multiprocessor at launch.
expect 0 '.maxnreg 240' fragments --set block_rows=64 --set warps=4 --set tile_n=256 --set stages=2 --set parts=1
expect 0 '.maxnreg 128' fragments --set block_rows=64 --set warps=4 --set tile_n=128 --set stages=2 --set parts=1
expect 0 '.maxnreg 80' fragments --set block_rows=128 --set warps=8 --set tile_n=64 --set stages=4 --set parts=1

# -- Files -------------------------------------------------------------------------------------------------------------
expect 1 "No such file" "$mcgen" nowhere.lua
expect 1 "Is a directory" "$mcgen" .
expect 1 "" "$mcgen" "$spec" -o missing/kernel.ptx
check "a failed -o left a file" test ! -e missing
expect 1 "No space left" "$mcgen" "$spec" -o /dev/full
"$mcgen" "$spec" >/dev/full 2>full
check "a full disk went unnoticed" test $? = 0 -o -s full
expect 2 "would overwrite the spec" "$mcgen" moved.lua -o ./moved.lua
expect 2 "no -o" "$mcgen" --check "$spec" -o kept.ptx
echo keep >kept.ptx
chmod 600 kept.ptx
ln -s kept.ptx link.ptx
expect 0 "" "$mcgen" "$spec" -o link.ptx
check "a link was replaced, or a mode changed" test -L link.ptx -a "$(stat -c %a kept.ptx)" = 600 -a "$(head -c 7 kept.ptx)" = '// spmm'
long=$(printf 'x%.0s' $(seq 250)).ptx
expect 0 "" "$mcgen" "$spec" -o "$long"
echo keep >kept.ptx
expect 2 "" "$mcgen" --set tile_n=33 "$spec" -o kept.ptx
check "a failed run touched its -o file" grep -q keep kept.ptx
check "temporaries are left" test -z "$(ls ./*.tmp 2>/dev/null)"
head -c 2000000 /dev/zero >large.lua
expect 2 "larger than 1 MB" "$mcgen" large.lua

finish
