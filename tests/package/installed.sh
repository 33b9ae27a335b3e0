#!/usr/bin/env bash
# The installed product, as another project takes it by find_package from a prefix that was moved; specs by their names; what uninstall leaves; and
# what is said where libraries are missing. installed.sh BUILD, a folder that has been built.
. "$(dirname "$0")/steps.sh"
build=$(cd "$1" && pwd)
CMAKE_GENERATOR=$(sed -n 's/^CMAKE_GENERATOR:INTERNAL=//p' "$build/CMakeCache.txt")

keep_lists "$build"

step "libraries that are missing are told at once"
multiarch=$(cc -print-multiarch || true)
all="Debian, Ubuntu: apt-get install liblua5.4-dev libjansson-dev libxxhash-dev libb2-dev zlib1g-dev"
all+=" Fedora: dnf install lua-devel jansson-devel xxhash-devel libb2-devel zlib-devel"
if [ -n "$multiarch" ]; then # Debian's and Ubuntu's folders
    refuses "$all" cmake -S "$root" -B "$work/missing" \
        "-DCMAKE_IGNORE_PATH=/usr/include;/usr/include/lua5.4;/usr/lib/$multiarch;/lib/$multiarch"
fi
refuses "apt-get install libjansson-dev libb2-dev Fedora: dnf install jansson-devel libb2-devel" \
    cmake -S "$root" -B "$work/some" -DMCGEN_jansson_SHARED= -DMCGEN_b2_INCLUDE=
mkdir "$work/lua"
echo '#define LUA_VERSION_NUM 503' >"$work/lua/lua.h"
refuses "lua.h is of another version" cmake -S "$root" -B "$work/other" -DMCGEN_lua_INCLUDE="$work/lua"
if compgen -G "/usr/lib/$multiarch/liblua5.4.a" >/dev/null; then # not position-independent in Debian and Ubuntu
    refuses "liblua5.4.a" cmake -S "$root" -B "$work/dependent" -DMCGEN_BUNDLE_DEPENDENCIES=ON
fi

step "find_package, from a prefix that was moved"
quietly cmake --install "$build" --prefix "$work/first"
mv "$work/first" "$work/second"
! grep -rIlF -e "$work/first" -e "$root" "$work/second" --include='*.cmake' --include='*.pc' || fail "these name folders of the build"
quietly cmake -S "$root/tests/package/stranger" -B "$work/installed" -DCMAKE_PREFIX_PATH="$work/second"
quietly cmake --build "$work/installed" --target uses_{mcrt,mcgen,mccache,ptxsim}{,_static} plugin embed
runs "$work/installed"
quietly cmake --build "$work/installed" --target kernels
"$work/installed/kernels" | grep -q '^spmm_.* for sm_89, sddmm_' || fail "mcrt_add_kernels: not these kernels"
if find_ptxas >/dev/null; then
    PATH=$(dirname "$(find_ptxas)"):$PATH quietly cmake --build "$work/installed" --target cubins
    [ -s "$work/installed/mcrt_kernels/cubins/spmm_l8r8.cubin" ] || fail "mcrt_add_kernels: no cubin"
fi
[[ $(linked "$work/installed/uses_mcrt") = *libmcrt* ]] || fail "mcrt::mcrt is no shared library"
[[ $(linked "$work/installed/uses_mcrt_static") != *libmcrt* ]] || fail "mcrt::mcrt_static is a shared library"

step "what libmcrt.so loads is what the documents say"
for page in docs/runtime.md docs/packaging.md; do
    said=$(grep -oE '`lib[a-z0-9.]+\.so\.[0-9]+`' "$root/$page" | tr -d '`' | grep -vE '^lib(mcrt|mcgen|mccache|ptxsim|cuda)\.' | sort -u)
    loads=$(needed "$(find "$work/second" -name libmcrt.so.1)")
    [ -z "$loads" ] || [ "$said" = "$loads" ] || fail "$page says: $said; it is: $loads"
done

step "specs by their names, from anywhere"
mkdir -p "$work/elsewhere/spmm_l8r8"
cd "$work/elsewhere"
quietly "$work/second/bin/mcgen" spmm_l8r8 -o kernel.ptx
grep -q '^\.visible \.entry' kernel.ptx || fail "mcgen spmm_l8r8 wrote no kernel"
for spec in $("$work/second/bin/mcgen" --list-specs); do quietly "$work/second/bin/mcgen" --describe "$spec"; done
quietly "$work/second/bin/mcrun" matrix-gen --m 64 --vec 8 --cols 96 --sparsity 0.7 -o a.smtx
quietly "$work/second/bin/mcrun" spmm spmm_l8r8 a.smtx --n 32 --device sim
refuses "spmm_l9r9" "$work/second/bin/mcgen" spmm_l9r9
cd "$work"

step "uninstall"
mv "$work/second" "$work/first"
touch "$work/first/lib/another"
quietly cmake --build "$build" --target uninstall
left=$(cd "$work/first" && find . ! -type d; cd "$work/first" && find . -name '*mcgen*' -o -name '*mcrt*')
[ "$left" = ./lib/another ] || fail "uninstall leaves: $left"

echo "installed product: as it should be"
