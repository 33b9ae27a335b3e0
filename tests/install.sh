#!/usr/bin/env bash
# The installed product, used as a stranger would: programs, specs, and the libraries by their headers and pkg-config files, shared and static,
# in C and C++. install.sh PREFIX
set -eu
prefix=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
examples=$here/../examples
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$here/../tools/setup.sh"
command -v pkg-config >/dev/null || packages pkg-config
command -v c++ >/dev/null || packages g++
pc=$(find "$prefix" -name mcrt.pc)
libraries=${pc%/pkgconfig/*}
export PKG_CONFIG_PATH=${pc%/*} LD_LIBRARY_PATH=$libraries HOME=$work XDG_CACHE_HOME='' XDG_DATA_HOME=''
strict=(-Wall -Wextra -Wshadow -Wconversion -Werror)

step() { echo "-- $*"; }

step "the shared library wants no other package's header or pkg-config file"
for name in mcrt mcgen mccache ptxsim; do
    PKG_CONFIG_PATH='' PKG_CONFIG_LIBDIR=${pc%/*} pkg-config --cflags --libs "$name"
done

step "manuals and examples"
readme=$(find "$prefix" -name README.md)
while read -r page; do
    [ -f "${readme%/*}/$page" ] || { echo "README.md names $page, which is not there"; exit 1; }
done < <(grep -oE '\]\((docs|examples)/[^)#]*' "$readme" | cut -c3-)

step "programs and specs"
spec=$(pkg-config --variable=specdir mcgen)/spmm_l8r8.lua
"$prefix/bin/mcgen" "$spec" >"$work/kernel.ptx"
"$prefix/bin/mcrun" devices >/dev/null
"$prefix/bin/mcbench" --version >/dev/null
"$prefix/bin/ptxsim" --version >/dev/null

step "nothing of the project's own among the headers"
headers=$(find "$prefix/include" -type f -printf '%f\n' | sort | tr '\n' ' ')
[ "$headers" = "mc_describe.h mc_element.h mc_optimise.h mc_status.h mccache.h mcgen.h mcrt.h ptxsim.h " ] || { echo "installed headers: $headers"; exit 1; }

# example NAME LINKED FLAGS...: builds and runs it on the simulator, twice: the second time the kernel comes from the cache.
example() {
    local name=$1 linked=$2
    shift 2
    step "examples/$name.c, $linked"
    # shellcheck disable=SC2046
    cc -std=c17 "${strict[@]}" "$examples/$name.c" $(pkg-config --cflags mcrt) "$@" -lm -pthread -o "$work/$name-$linked"
    local arguments=(sim sim)
    [ "$name" = mlp ] && arguments=(sim gelu)
    "$work/$name-$linked" "${arguments[@]}"
    "$work/$name-$linked" "${arguments[@]}" >/dev/null
}
read -ra shared <<<"$(pkg-config --libs mcrt)"
read -ra static <<<"$(pkg-config --static --libs mcrt)"
for name in embed threads mlp; do
    example "$name" shared "${shared[@]}"
    example "$name" static "${static[@]/#-lmcrt/$libraries/libmcrt.a}"
done
for linked in shared static; do
    uses=$(readelf -d "$work/embed-$linked" | grep -c 'libmcrt\.so\.1' || true)
    [ "$uses" = "$([ $linked = shared ] && echo 1 || echo 0)" ] || { echo "embed-$linked: $uses times libmcrt.so.1"; exit 1; }
done
[ -d "$work/.cache/mcgen" ] || { echo "no cache at ~/.cache/mcgen"; exit 1; }

step "C++"
# shellcheck disable=SC2046
c++ -std=c++11 -pedantic "${strict[@]}" "$here/api/include.cpp" $(pkg-config --cflags --libs mcrt mcgen mccache ptxsim) -o "$work/include"
"$work/include"

if [ -f /usr/local/cuda/include/cuda.h ]; then
    cc -std=c17 -Wall -Werror -c "$examples/launch.c" -I/usr/local/cuda/include -o "$work/launch.o"
fi
echo "installed product: works from $(find "$prefix" -type f | wc -l) files"
