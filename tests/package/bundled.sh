#!/usr/bin/env bash
# The product as a part of another project's build, by add_subdirectory: with the machine's libraries, and with these linked in, where no name of
# theirs may be seen from outside. It compiles the libraries twice.
. "$(dirname "$0")/steps.sh"

# part FOLDER OPTIONS...: configures the stranger.
part() {
    local folder=$1
    shift
    quietly cmake -S "$root/tests/package/stranger" -B "$folder" -DMCGEN="$root" "$@"
    ! compgen -G "$folder/mcgen/tests" >/dev/null || fail "the subproject has tests"
}

step "add_subdirectory"
part "$work/part"
quietly cmake --build "$work/part" --target uses_mcrt{,_static} embed
runs "$work/part"

step "the libraries that it needs, as archives"
quietly "$root/tools/dependencies" "$work/dependencies"

step "add_subdirectory, with these linked in"
part "$work/bundled" -DMCGEN_BUNDLE_DEPENDENCIES=ON -DCMAKE_PREFIX_PATH="$work/dependencies"
quietly cmake --build "$work/bundled" --target uses_{mcrt,mcgen,mccache}{,_static} plugin embed
runs "$work/bundled"
[[ $(linked "$work/bundled/uses_mcrt_static") != *lua* ]] || fail "the archive needs Lua"
for library in "$work"/bundled/mcgen/{gen/libmcgen,runtime/libmcrt,cache/libmccache}.so; do
    [ -z "$(needed "$library")" ] || fail "$library needs $(needed "$library")"
    names=$(nm -D --defined-only "$library" | awk '{ print $NF }' | grep -iE '^(lua|json|xxh|blake)' || true)
    [ -z "$names" ] || fail "$library exports $names"
done
# None of theirs, because none but those of the headers.
for library in libmcrt.so static/libmcrt.a; do
    "$root/tests/api/symbols.sh" "$work/bundled/mcgen/runtime/$library" MCRT_1 "$root/runtime/mcrt.h" "$root/runtime/mc_describe.h" "$root/gen/mc_status.h"
done

echo "as a part of other projects: as it should be"
