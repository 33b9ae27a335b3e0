#!/usr/bin/env bash
# The product as other projects and packagers take it: by find_package from a prefix that was moved, by add_subdirectory, with the libraries that it
# needs linked in, by a Debian package; and what is said where those are missing. package.sh BUILD, which is a folder that has been built.
set -euo pipefail
build=$(cd "$1" && pwd)
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$root/tools/setup.sh"
export HOME=$work XDG_CACHE_HOME='' XDG_DATA_HOME='' MCGEN_ARCH=sm_80
unset DESTDIR

step() { echo "-- $*"; }
fail() {
    echo "tests/package: $*" >&2
    exit 1
}
# quietly COMMAND...: what it says is shown if it fails.
quietly() { "$@" >"$work/log" 2>&1 || { tail -30 "$work/log" && fail "failed: $*"; }; }
# refuses TEXT COMMAND...: the command must fail and say TEXT, as one line whatever its blanks.
refuses() {
    local text=$1
    shift
    ! "$@" >"$work/log" 2>&1 || fail "did not fail: $*"
    tr -s ' \n' ' ' <"$work/log" | grep -qF -- "$text" || { cat "$work/log" && fail "no '$text': $*"; }
}
linked() { ldd "$1" | awk '{ print $1 }' | grep -oE '^(lib[a-z0-9]+)' | sort | tr '\n' ' '; }

step "libraries that are missing are told at once"
multiarch=$(cc -print-multiarch)
refuses "Debian, Ubuntu: apt-get install liblua5.4-dev libjansson-dev libxxhash-dev libb2-dev Fedora: dnf install lua-devel jansson-devel xxhash-devel libb2-devel" \
    cmake -S "$root" -B "$work/missing" "-DCMAKE_IGNORE_PATH=/usr/include;/usr/include/lua5.4;/usr/lib/$multiarch;/lib/$multiarch"
refuses "apt-get install libjansson-dev libb2-dev Fedora: dnf install jansson-devel libb2-devel" \
    cmake -S "$root" -B "$work/some" -DMCGEN_jansson_SHARED= -DMCGEN_b2_INCLUDE=
mkdir "$work/lua"
echo '#define LUA_VERSION_NUM 503' >"$work/lua/lua.h"
refuses "lua.h is of another version" cmake -S "$root" -B "$work/other" -DMCGEN_lua_INCLUDE="$work/lua"

step "find_package, from a prefix that was moved, and uninstall"
quietly cmake --install "$build" --prefix "$work/first"
mv "$work/first" "$work/second"
! grep -rIlF -e "$work/first" -e "$root" "$work/second" --include='*.cmake' --include='*.pc' || fail "these name folders of the build"
quietly cmake -S "$root/tests/package/stranger" -B "$work/installed" -G Ninja -DCMAKE_PREFIX_PATH="$work/second"
quietly cmake --build "$work/installed" --target uses_{mcrt,mcgen,mccache,ptxsim}{,_static} plugin embed
for program in "$work"/installed/uses_* "$work/installed/embed sim"; do
    # shellcheck disable=SC2086
    quietly $program
done
[[ $(linked "$work/installed/uses_mcrt") = *libmcrt* ]] || fail "mcrt::mcrt is no shared library"
[[ $(linked "$work/installed/uses_mcrt_static") != *libmcrt* ]] || fail "mcrt::mcrt_static is a shared library"
mv "$work/second" "$work/first"
touch "$work/first/lib/another"
quietly cmake --build "$build" --target uninstall
left=$(cd "$work/first" && find . ! -type d; cd "$work/first" && find . -name '*mcgen*' -o -name '*mcrt*')
[ "$left" = ./lib/another ] || fail "uninstall leaves: $left"

step "the libraries that it needs, linked in"
if compgen -G "/usr/lib/$multiarch/liblua5.4.a" >/dev/null; then # not position-independent in Debian and Ubuntu
    refuses "liblua5.4.a" cmake -S "$root" -B "$work/dependent" -DMCGEN_BUNDLE_DEPENDENCIES=ON
fi
quietly "$root/tools/dependencies" "$work/dependencies"

step "add_subdirectory, with these"
quietly cmake -S "$root/tests/package/stranger" -B "$work/part" -G Ninja -DMCGEN="$root" -DMCGEN_BUNDLE_DEPENDENCIES=ON \
    -DCMAKE_PREFIX_PATH="$work/dependencies"
! compgen -G "$work/part/mcgen/tests" >/dev/null || fail "the subproject has tests"
quietly cmake --build "$work/part" --target uses_{mcrt,mccache}{,_static} plugin embed
for program in "$work"/part/uses_* "$work/part/embed sim"; do
    # shellcheck disable=SC2086
    quietly $program
done
library=$work/part/mcgen/runtime/libmcrt.so
[ "$(linked "$library")" = "libc libm " ] || fail "libmcrt.so needs $(linked "$library")"
"$root/tests/api/symbols.sh" "$library" MCRT_1 "$root/runtime/mcrt.h" "$root/gen/mc_status.h"
"$root/tests/api/symbols.sh" "$work/part/mcgen/runtime/static/libmcrt.a" MCRT_1 "$root/runtime/mcrt.h" "$root/gen/mc_status.h"
[[ $(linked "$work/part/uses_mcrt_static") != *lua* ]] || fail "the archive needs Lua"

echo "packages: as they should be"
