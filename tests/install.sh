#!/usr/bin/env bash
# The installed product: programs, libraries, headers, pkg-config file and specs, used as a stranger would. install.sh PREFIX
set -eu
prefix=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
command -v pkg-config >/dev/null || { . "$here/../tools/setup.sh"; packages pkg-config; }
pc=$(find "$prefix" -name mcgen.pc)
export PKG_CONFIG_PATH=${pc%/*}
spec=$(pkg-config --variable=specdir mcgen)/spmm_l8r8.lua
"$prefix/bin/mcgen" "$spec" >"$work/kernel.ptx"
"$prefix/bin/mcrun" devices >/dev/null
"$prefix/bin/mcbench" --version >/dev/null
# shellcheck disable=SC2046
cc -std=c17 -Wall -Werror "$here/../examples/embed.c" $(pkg-config --cflags --libs mcgen) -o "$work/embed"
"$work/embed" "$spec" sim
if [ -f /usr/local/cuda/include/cuda.h ]; then
    cc -std=c17 -Wall -Werror -c "$here/../examples/launch.c" -I/usr/local/cuda/include -o "$work/launch.o"
fi
echo "installed product: works from $(find "$prefix" -type f | wc -l) files"
