# Sourced by tools/demo, tools/check and .ci/run: installs what is missing on Debian 12 or Ubuntu 24.04, finds ptxas.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# packages NAME...: installs those that are not there, with apt.
packages() {
    local missing=()
    for package in "$@"; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
    done
    [ ${#missing[@]} = 0 ] && return 0
    local sudo=
    [ "$(id -u)" = 0 ] || sudo=sudo
    echo "installing: ${missing[*]}"
    { $sudo apt-get update -qq && $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "${missing[@]}"; } >"$root/.setup.log" 2>&1 || {
        tail -20 "$root/.setup.log" >&2
        echo "tools/setup.sh: apt-get could not install: ${missing[*]}" >&2
        return 1
    }
    rm -f "$root/.setup.log"
}

# find_cuda NAME CHOSEN: a program of the CUDA toolkit, if there is one; CHOSEN before all others.
find_cuda() {
    local path
    for path in "$2" "$(command -v "$1")" "/usr/local/cuda/bin/$1"; do
        [ -n "$path" ] && [ -x "$path" ] && echo "$path" && return 0
    done
    return 1
}

# The assembler; tests and demo do without it, and say so. The compiler, of which one test makes PTX.
find_ptxas() { find_cuda ptxas "${PTXAS:-}"; }
find_nvcc() { find_cuda nvcc "${NVCC:-}"; }

build_packages=(gcc libc6-dev cmake ninja-build liblua5.4-dev libjansson-dev libxxhash-dev libb2-dev zlib1g-dev xz-utils)

# turn SEED N: whose turn of N it is, from 0 on; SEED is a hex number such as a commit's.
turn() { echo $((16#${1:0:7} % $2)); }

# build PRESET [TARGET...]: configures and builds into the preset's folder, all of it where no target is named.
build() {
    (cd "$root" && cmake --preset "$1" >"$root/.build.log" 2>&1 && cmake --build --preset "$1" ${2+--target "${@:2}"} >>"$root/.build.log" 2>&1) || {
        tail -40 "$root/.build.log" >&2
        echo "tools/setup.sh: the $1 build failed" >&2
        return 1
    }
    rm -f "$root/.build.log"
}
