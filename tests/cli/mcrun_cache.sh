#!/bin/bash
# mcrun cache: what it tells of a directory, what it removes, and what it leaves. Arguments: mcrun, the source directory, json_get, cache_put.
mcrun=$1 json_get=$3 cache_put=$4
source "$2/tests/expect.sh"
cd "$work" || exit 1
unset MCGEN_CACHE MCGEN_CACHE_MAX MCGEN_CACHE_SYSTEM XDG_CACHE_HOME
export MCGEN_CACHE_DIR=$work/cache HOME=$work/home
cache() { "$mcrun" cache "$@"; }
# says WANT ACTION MEMBER: what ACTION prints as JSON has WANT there.
says() {
    local got
    cache "$2" --json >said.json 2>/dev/null
    got=$("$json_get" said.json "$3")
    check "$2: $3 is '$got', want '$1'" test "$got" = "$1"
}
# age FILE: as if it was last used two days ago
age() { touch -d '2 days ago' "$1"; }

# Usage
expect 0 'print each entry: when it was used last' cache --help
expect 2 'cache: wants path|list|verify|prune|clear|stats' cache
expect 2 "cache: 'purge' is not one of path|list|verify|prune|clear|stats" cache purge
expect 2 "too many arguments: 'list'" cache list list
expect 2 '--bytes and --files go with prune' cache clear --bytes 1
expect 2 '--bytes and --files go with prune' cache list --files 1
for size in '' x M 1.5G 1T 1MB -1 ' 1' 9999999999999999999 9007199254740992G; do
    expect 2 "--bytes: '$size' is not a size" cache prune --bytes "$size"
done
expect 2 "MCGEN_CACHE is not one of rw, ro, mem and off" env MCGEN_CACHE=maybe "$mcrun" cache path
expect 2 "MCGEN_CACHE_MAX is not a number of bytes" env MCGEN_CACHE_MAX=0 "$mcrun" cache stats

# Which directory; nothing is made by looking at it
expect 0 "$work/cache" cache path
expect 0 "$work/x/mcgen" env -u MCGEN_CACHE_DIR XDG_CACHE_HOME="$work/x" "$mcrun" cache path
expect 0 "$work/home/.cache/mcgen" env -u MCGEN_CACHE_DIR XDG_CACHE_HOME=x "$mcrun" cache path
expect 1 'no directory: MCGEN_CACHE_DIR, XDG_CACHE_HOME and HOME name none' env -u MCGEN_CACHE_DIR -u HOME "$mcrun" cache path
for action in path list verify prune clear stats; do
    expect 0 '' cache $action
    expect 0 '' cache $action --json
done
check 'a directory was made' test ! -e cache
says 0 stats files
says 536870912 stats max_bytes

# Four entries
one=$("$cache_put" 'op=spmm "one"' 1111)
two=$("$cache_put" op=sddmm 2222)
evil=$("$cache_put" $'\e[31mred\x80\n' 3333)
four=$("$cache_put" four 4444)
expect 0 'op=spmm "one"' cache list
expect 0 '?[31mred' cache list
check 'no escapes on the terminal' test "$(cache list | grep -c $'\e')" = 0
check 'a line for each' test "$(cache list | wc -l)" = 4
says 4 stats files
says "$(cat cache/??/*.entry | wc -c)" stats bytes
expect 0 'entries    4 of at most 10000' cache stats
expect 0 'size       0.3 KiB of at most 2.0 MiB' env MCGEN_CACHE_MAX=2M "$mcrun" cache stats
expect 0 '4 entries, 0.3 KiB, all good; 0 files left behind' cache verify
says 4 verify good
expect 0 '"label": "op=sddmm"' cache list --json
expect 0 '"label": "?[31mred??"' cache list --json

# Damage, files that others may write, leftovers; verify says which and where
printf x | dd of="$one" bs=1 seek=70 conv=notrunc 2>/dev/null
chmod g+w "$two"
left=$(dirname "$four")/tmp.1.0123456789abcdef
: >"$left"
age "$left"
cp cache/??/*.entry . && before=$(ls -lR --time-style=full-iso cache)
expect 1 "mcrun: $one: damaged: its checksum is wrong" cache verify
expect 1 "mcrun: $two: foreign: others may write to it" cache verify
expect 1 '2 damaged or not to be trusted, 2 good: `mcrun cache prune` removes them' cache verify
expect 0 'foreign: others may write to it' cache list
says 1 verify damaged
says 1 verify foreign
says 1 verify stale
cache verify --json >said.json 2>/dev/null
damaged=$(grep -o '"state": "[a-z]*"' said.json | grep -n damaged | cut -d: -f1)
says 'its checksum is wrong' verify bad.$((damaged - 1)).fault
cache verify --json >/dev/null 2>&1
check 'JSON with status 1' test $? = 1
says 1 stats stale
check 'looking changes nothing' test "$before" = "$(ls -lR --time-style=full-iso cache)"
expect 1 'nothing is removed: MCGEN_CACHE is ro' env MCGEN_CACHE=ro "$mcrun" cache prune
expect 1 'nothing is removed: MCGEN_CACHE is ro' env MCGEN_CACHE=ro "$mcrun" cache clear
expect 0 '3 files removed; 2 entries left' cache prune
expect 0 '2 entries, 0.2 KiB, all good' cache verify

# Down to limits, oldest first; MCGEN_CACHE=off is about programs, not about this
age "$evil"
expect 0 '1 files removed; 1 entries left' env MCGEN_CACHE=off "$mcrun" cache prune --files 1
check 'the newest stays' test -e "$four"
expect 0 '0 files removed; 1 entries left' cache prune --bytes 1K
expect 0 '1 files removed; 0 entries left' cache prune --bytes 10
"$cache_put" again x >again
expect 0 '1 files removed; 0 entries left' env MCGEN_CACHE_MAX=1 "$mcrun" cache prune

# clear removes entries and what processes left behind, and no other file
"$cache_put" again x >again
: >"$left" && age "$left"
: >cache/README
: >"$(dirname "$left")/notes"
mkdir cache/photos && cp "$(cat again)" cache/photos
expect 0 '2 files removed; 0 entries left' cache clear
check 'their files stay' test -e cache/README -a -e "$(dirname "$left")/notes" -a -e "cache/photos/$(basename "$(cat again)")"
says 0 clear removed

# A directory that cannot be used
chmod 0770 cache
expect 1 "mcrun: $work/cache: others may write into it" cache list
expect 1 'others may write into it' cache clear
expect 0 "$work/cache" cache path
MCGEN_CACHE_DIR=$work/again
expect 1 "mcrun: $work/again: Not a directory" cache stats
finish
