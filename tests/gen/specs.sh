#!/usr/bin/env bash
# Specs that are wrong or hostile: each is stopped with its message, exit status 2, within 2 s of processor time and 400 MB of addresses.
# specs.sh MCGEN
set -u
mcgen=$1
. "$(dirname "$0")/../expect.sh"
cd "$work" || exit 1

# bad TEXT SPEC: the spec (after a valid op) must be refused with TEXT.
bad() {
    printf '%s\n' "$2" >bad.lua
    # Address space is no measure under a sanitizer, which reserves terabytes.
    local limit="ulimit -v 400000;"
    "$mcgen" --version >/dev/null 2>&1 && (ulimit -v 400000; "$mcgen" --version >/dev/null 2>&1) || limit=
    expect 2 "$1" timeout 30 bash -c "ulimit -t 2; $limit exec \"\$0\" bad.lua" "$mcgen"
}

# -- Fields: position, nearest name, all errors at once -----------------------------------------------------------------
bad "bad.lua:2: tile_m: unknown field: a thread block has vec * warps / split rows" $'op = "spmm"\ntile_m = 32'
bad "bad.lua:2: tile_l: unknown field (did you mean 'tile_n'?)" $'op = "spmm"\ntile_l = 32'
bad "bad.lua:3: warps: 5 is not one of 1, 2, 3, 4, 7, 8, 11, 12, 13, 15, 16, 18, 20, 21, 22, 24, 26, 28" $'op = "spmm"\n\nwarps = {1, 5}'
bad 'bad.lua:1: op: no such kernel family (did you mean "spmm"?)' 'op = "spnm"'
bad "op: missing" 'vec = 8'
bad "op: missing" ''
bad 'lhs: "s9" is not one of "s8", "u8", "s4", "u4", "s12", "u12", "s16", "u16", "f16", "bf16", "tf32", "e4m3", "e5m2", "tf32rz", "f32" (did you mean "s8"?)' $'op = "spmm"\nlhs = "s9"'
bad "tile_n: 64.5 is not one of" $'op = "spmm"\ntile_n = 64.5'
bad "tile_n: a function is not one of" $'op = "spmm"\nfunction tile_n() end'
bad "the list of candidates is empty" $'op = "spmm"\ntile_n = {}'
bad "without keys" $'op = "spmm"\ntile_n = {a = 32}'
bad "at most 32" $'op = "spmm"\nlocal t = {} for i = 1, 40 do t[i] = i end tile_n = t'
bad "is not one of 1 to 2147483647" $'op = "spmm"\nm = 0'
bad "is not one of 1 to 2147483647" $'op = "spmm"\nk = 2147483648'
bad "takes one value" $'op = "spmm"\nn = {1, 2}'
bad "split: 8 warps cannot share a row block in a thread block of 1" $'op = "spmm"\nwarps = 1\nsplit = 8'
a_panel=$'op = "sddmm"\nlhs = "s16"\nrhs = "s8"\nlhs_in = "shared"'
bad "lhs_in: panels of A of 8 warps take 65536 bytes of shared memory, a kernel has 49152" "$a_panel"$'\nwarps = 8'
bad "prefetch_lhs: tile_k holds all of k" "$a_panel"$'\nprefetch_lhs = "on"\nk = 256'
bad "prefetch_lhs: these shapes have no panels" "$a_panel"$'\nprefetch_lhs = "on"\nlda = 3001'
bad 'window: staging = "direct" has no windows of B' $'op = "spmm"\nwindow = 64'
bad 'bad.lua:2: window: staging = "direct" has no windows of B' $'op = "spmm"\nwindow = {64, 128}'
bad 'stages: staging = "direct" has no ring' $'op = "spmm"\nwindow = {64, 128}\nstages = {2, 3, 4}'
printf 'op = "spmm"\narch = "sm_90"\nstaging = "tma"\nwindow = {64, 128}\n' >ring.lua
expect 0 "window=64" "$mcgen" --list-variants ring.lua
expect 0 "staging=direct" "$mcgen" --list-variants --set staging=direct ring.lua
expect 2 '--set: window: staging = "direct" has no windows' "$mcgen" --set staging=direct --set window=64,128 ring.lua

# at_once COUNT SPEC: the errors stand in COUNT lines of the spec.
at_once() {
    printf '%s\n' "$2" >errors.lua
    check "not all errors at once: $2" test "$("$mcgen" errors.lua 2>&1 | grep -o '^errors.lua:[0-9]*: ' | sort -u | wc -l)" = "$1"
}
at_once 3 $'op = "spmm"\ntile_m = 1\nwarps = 5\nsplit = 99'
at_once 4 $'op = "spnm"\ntile_m = 1\nwarps = 5\nsplit = 99'
at_once 3 $'op = 7\nwindow = 5\nvec = 3'
at_once 2 $'tile_n = 3\nwarps = 5'
at_once 3 $'op = "spmm"\nwarps = {a = 4}\ntile_m = 1\nsplit = 99'
at_once 2 $'op = "spmm"\nlocal t = {} for i = 1, 40 do t[i] = i end tile_n = t\nwarps = 5'
bad "warps: 5 is not one of" $'op = "spmm"\nwarps = {a = 4, 5}'
bad "warps: a list of candidates is {a, b, ...}, without keys" $'op = "spmm"\nwarps = {a = 4, 5}'
printf 'op = "spmm"\nwarps = {a = 4}\nwarps = 4\n' >again.lua
expect 0 "warps=4" "$mcgen" again.lua

# -- Scripts --------------------------------------------------------------------------------------------------------------
bad "bad.lua:1:" 'this is not Lua'
bad "it returns nothing" 'return {}'
bad "more than a second" 'while true do end'
bad "more than a second" 'local function f() return f() end f()'
bad "more than a second" 'local s = ("x"):rep(30000) while true do local t = s .. s end'
bad "more than a second" 'local t = {} for i = 1, 999 do t[i] = i end while true do table.insert(t, 1, 0) table.remove(t) end'
bad "16 MB of memory" 'local t = {} while true do t[#t + 1] = {} end'
bad "longer than 64 KB" 'local s = "x" while true do s = s .. s end'
bad "16 MB of memory" 'local function f() return 1 + f() end f()'
bad "find" 'local s = ("a"):rep(60000) string.find(s, ".-b")'
bad "gsub" 'local s = ("a"):rep(60000) s:gsub(".-b", "")'
bad "move" 'table.move({}, 1, 1e15, 1)'
bad "longer than 64 KB" 'local s = ("x"):rep(1e9)'
bad "longer than 64 KB" 'local t = {} for i = 1, 900 do t[i] = ("x"):rep(1000) end local s = table.concat(t)'
bad "too long to sort" 'local s = ("x"):rep(1000) local t = {} for i = 1, 999 do t[i] = s end table.sort(t)'
bad "more than 1000" 'local a = table.unpack({}, 1, 1e7)'
bad "more than 1000" 'local a = ("x"):rep(60000):byte(1, 60000)'
for name in io os require dofile load loadstring debug coroutine pcall xpcall print collectgarbage setmetatable rawset _G; do
    bad "$name: a spec has no such name" "local x = $name"
done
bad "pattern" 'error("no pattern here")'
bad "without a message" 'error({})'
bad "prints an address" 'local s = string.format("%p", {})'
bad "cannot be printed" 'local s = string.format("%s", {})'
check "tostring shows an address" test "$(printf 'op = tostring({})' >t.lua; "$mcgen" t.lua 2>&1 | grep -c 0x)" = 0
bad "bad.lua:2: wrong number of arguments to 'insert'" $'op = "spmm"\ntable.insert({}, 1, 2, 3)'
bad "no such kernel family" 'op = "spmm\0junk"'
bad "no field has" '_ENV["tile_n\0"] = 64'

# What neither hook nor caps of functions reach: the parser's search among local names, comparisons of NULs
{
    for i in $(seq 180); do
        echo "local function f$i()"
        printf 'local a%d' $i
        for j in $(seq 190); do printf ',b%d_%d' $i $j; done
        echo
    done
    printf 'local t = {'
    for _ in $(seq 100000); do printf 'x,'; done
    echo '}'
    for _ in $(seq 180); do echo end; done
} >nest.lua
(ulimit -t 2; exec "$mcgen" nest.lua >/dev/null 2>&1)
check "nested functions: exit status, or more than 2 s of processor" test $? = 2
bad "more than a second" 'local s, t = ("\0"):rep(60000), ("\0"):rep(60000) .. "x" while true do local x = s <= t end'
bad "more than a second" 'local t = {} for i = 1, 200 do t[("\0"):rep(60000) .. i] = 1 end while true do for k in pairs(t) do end end'
bad "more than a second" 'local t, s = {}, ("1"):rep(60000) for i = 1, 999 do t[i] = s end while true do local m = math.max(table.unpack(t)) end'

# A second of the script's own time: one that does not get to run meanwhile, as on a busy machine, is not stopped.
printf 'op = "spmm"\nfor i = 1, 15000000 do local x = i * i end\n' >held.lua
"$mcgen" held.lua >held.ptx 2>held.txt &
held=$!
for _ in 1 2 3 4; do
    sleep 0.03
    kill -STOP $held
    sleep 0.6
    kill -CONT $held
done 2>/dev/null
wait $held
check "stopped for the time that others took" test $? = 0

bad 'bad.lua:1: a?[31mb' 'error("a\27[31mb")'

printf '\033Lua' >bytecode.lua
expect 2 "bytecode" "$mcgen" bytecode.lua
printf 'op = "spmm" -- \0 x' >nul.lua
"$mcgen" nul.lua >/dev/null 2>&1
check "a NUL byte crashed" test $? -le 2

printf '\xef\xbb\xbf#!/usr/bin/env mcgen\nop = "spmm"\ntile_m = 1\n' >bom.lua
expect 2 "bom.lua:3: tile_m" "$mcgen" bom.lua

# pairs walks in the order of keys: the same PTX in every run
cat >order.lua <<'L'
op = "spmm"
local t, list = {zebra = 32, ant = 64, bee = 128}, {}
for _, tile in pairs(t) do list[#list + 1] = tile end
tile_n = list
L
for _ in 1 2 3 4 5; do "$mcgen" --list-variants order.lua | cut -d' ' -f1,3-; done | sort | uniq -c | awk '$1 != 5 {exit 1}' ||
    complain "pairs order reaches the output"

# Reading back, local helpers and loops are what a spec may use
cat >good.lua <<'L'
op = "spmm"
local function powers(first, last) local t = {} while first <= last do t[#t + 1] = first first = first * 2 end return t end
warps = powers(1, 8)
split = warps
tile_n = math.max(32, 64)
prefetch = ("ON"):lower()
L
expect 0 "tile_n=64" "$mcgen" good.lua

finish
