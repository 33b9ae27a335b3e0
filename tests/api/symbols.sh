#!/usr/bin/env bash
# A library for applications has the functions that its headers declare, and no other name. symbols.sh LIBRARY VERSION HEADER...
# Of a shared library the functions are at VERSION ("-": at none).
set -euo pipefail
library=$1
version=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
case $library in
*.a) dynamic=() suffix= ;;
*) dynamic=(-D --with-symbol-versions) suffix=@@$version ;;
esac
[ "$version" != - ] || suffix=
for header; do awk -f "$here/declared.awk" "$header"; done | sed "s/\$/$suffix/" | sort >"$work/declared"
[ "$(wc -l <"$work/declared")" -ge 5 ] || { echo "$*: hardly a declaration was found"; exit 1; }
# Neither the name of the version itself (A), nor what a sanitizer adds.
nm --defined-only --extern-only "${dynamic[@]}" "$library" | awk 'NF == 3 && $2 != "A" && $3 !~ /^__/ { print $3 }' | sort >"$work/exported"
diff -u --label declared --label exported "$work/declared" "$work/exported" || {
    echo "$library does not export what $* declare: see its version script (.map)"
    exit 1
}
echo "$(basename "$library"): $(wc -l <"$work/exported") functions, as declared"
