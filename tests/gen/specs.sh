#!/usr/bin/env bash
# Specs that are wrong or hostile: each is stopped with its message, exit status 2, in under 2 s and 100 MB.
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
    expect 2 "$1" timeout 10 bash -c "$limit exec \"\$0\" bad.lua" "$mcgen"
    local (ulimit -t 2; exec "$mcgen" nest.lua >/dev/null 2>&1)
check "nested functions: exit status, or more than 2 s of processor" test $? = 2
bad "more than a second" 'local s, t = ("\0"):rep(60000), ("\0"):rep(60000) .. "x" while true do local x = s <= t end'
bad "more than a second" 'local t = {} for i = 1, 200 do t[("\0"):rep(60000) .. i] = 1 end while true do for k in pairs(t) do end end'
bad "more than a second" 'local t, s = {}, ("1"):rep(60000) for i = 1, 999 do t[i] = s end while true do local m = math.max(table.unpack(t)) end'

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
