# Sourced by installed.sh, bundled.sh and tools/tour: what their steps are made of.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../tools/setup.sh"
work=$(mktemp -d)
# shellcheck disable=SC2086
unset ${!MCGEN_@} # what the user's environment says has no part in it
export HOME=$work XDG_CACHE_HOME='' XDG_DATA_HOME='' MCGEN_ARCH=sm_80
export CMAKE_GENERATOR=Ninja
unset DESTDIR

trap 'rm -rf "$work"' EXIT

step() { echo "-- $*"; }
fail() {
    echo "${0#"$root/"}: $*" >&2
    exit 1
}
# keep_lists BUILD: what else was installed from the build's folder is not the test's, for uninstall goes by these lists. They come back at the end.
keep_lists() {
    mkdir "$work/lists"
    move_lists "$1" "$work/lists"
    # shellcheck disable=SC2064
    trap "rm -f '$1'/install_manifest*.txt; move_lists '$work/lists' '$1'; rm -rf '$work'" EXIT
}
move_lists() { find "$1" -maxdepth 1 -name 'install_manifest*.txt' -exec mv {} "$2" \;; }
# quietly COMMAND...: what it says is shown if it fails.
quietly() { "$@" >"$work/log" 2>&1 || { tail -30 "$work/log" && fail "failed: $*"; }; }
# refuses TEXT COMMAND...: the command must fail and say TEXT, as one line whatever its blanks.
refuses() {
    local text=$1
    shift
    ! "$@" >"$work/log" 2>&1 || fail "did not fail: $*"
    tr -s ' \n' ' ' <"$work/log" | grep -qF -- "$text" || { cat "$work/log" && fail "no '$text': $*"; }
}
# Libraries that FILE loads, and those that it asks for by itself.
linked() { ldd "$1" | awk '{ print $1 }' | grep -oE '^(lib[a-z0-9]+)' | sort | tr '\n' ' '; }
needed() { readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -vE '^(libc|libm|ld-linux.*)\.so' | sort; }
# runs FOLDER: the stranger's programs.
runs() {
    local program
    for program in "$1"/uses_*; do quietly "$program"; done
    quietly "$1/embed" sim
}
