# Sourced by the command line tests. expect STATUS TEXT COMMAND...: the command must exit with STATUS and its stderr (or, for
# status 0, stdout and stderr) must contain TEXT ("": anything goes). Where STATUS is not 0, stdout must stay empty, or be the error as JSON.
passed=0
failed=0
export MCGEN_ARCH=sm_80 # what mcgen makes must not depend on the machine's GPU
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export MCGEN_CACHE_DIR=$work/cache # the user's has no part in tests
unset MCGEN_CACHE MCGEN_LOG

complain() {
    failed=$((failed + 1))
    echo "failed: $*"
}

expect() {
    local status=$1 text=$2 got
    shift 2
    "$@" >"$work/stdout" 2>"$work/stderr" </dev/null
    got=$?
    if [ "$got" != "$status" ]; then
        complain "exit $got, want $status: $*"
        head -3 "$work/stderr"
    elif [ "$status" != 0 ] && [ -s "$work/stdout" ] && ! grep -q '^{"error":' "$work/stdout"; then
        complain "wrote to stdout: $*"
    elif [ -n "$text" ] && ! cat "$work/stderr" "$work/stdout" | grep -qF -- "$text"; then
        complain "no '$text' in the output: $*"
        head -3 "$work/stderr"
    else
        passed=$((passed + 1))
    fi
}

# check TEXT COMMAND...: a condition, TEXT says which.
check() {
    local text=$1
    shift
    if "$@" >/dev/null; then passed=$((passed + 1)); else complain "$text"; fi
}

finish() {
    echo "$passed checks passed, $failed failed"
    [ "$failed" = 0 ]
}
