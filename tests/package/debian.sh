#!/usr/bin/env bash
# The Debian packages have what an installation puts in place, each file once, and name the packages that they need.
# debian.sh BUILD PACKAGES: BUILD is a folder that has been built, PACKAGES one to make, for the packages. tools/tour calls it.
# Where dpkg-deb is missing, nothing is tested, and that is said (status 77).
set -u
build=$(cd "$1" && pwd)
packages=$2
for tool in dpkg-deb dpkg-shlibdeps cpack; do
    command -v $tool >/dev/null || { echo "SKIPPED: the Debian packages, as there is no $tool"; exit 77; }
done
. "$(dirname "$0")/../expect.sh"
unset DESTDIR

# What was installed from this folder is not the test's: uninstall goes by these lists.
mkdir "$work/kept"
cp -p "$build"/install_manifest*.txt "$work/kept" 2>/dev/null
back() { rm -f "$build"/install_manifest*.txt && cp -p "$work"/kept/* "$build" 2>/dev/null; rm -rf "$work"; }
trap back EXIT
rm -f "$build"/install_manifest*.txt

expect 0 "" cmake -E chdir "$build" cpack -G DEB -B "$packages"
check "packing leaves no list of files in /usr for uninstall" [ -z "$(compgen -G "$build/install_manifest*.txt")" ]
expect 0 "" env DESTDIR="$work/installed" cmake --install "$build" --prefix /usr

version=$(sed -n 's/^CMAKE_PROJECT_VERSION:.*=//p' "$build/CMakeCache.txt")
architecture=$(dpkg --print-architecture)
for name in libmcrt1 libmcrt-dev mcgen; do
    package=$packages/${name}_${version}_$architecture.deb
    check "a package $name" [ -f "$package" ]
    expect 0 "" dpkg-deb --extract "$package" "$work/$name"
    expect 0 "" dpkg-deb --control "$package" "$work/$name.control"
    (cd "$work/$name" && find . ! -type d) >>"$work/packed"
    dpkg-deb --contents "$package" >>"$work/contents"
    check "$name: a copyright" [ -s "$work/$name/usr/share/doc/$name/copyright" ]
    expect 0 "" gzip -t "$work/$name/usr/share/doc/$name/changelog.gz"
    check "$name: a description of more than its summary" [ "$(dpkg-deb --field "$package" Description | wc -l)" -ge 3 ]
    check "$name: a maintainer" grep -q '<.*@.*>' <(dpkg-deb --field "$package" Maintainer)
done
check "three packages" [ "$(find "$packages" -maxdepth 1 -name '*.deb' | wc -l)" = 3 ]
check "files are root's, and only root writes them" [ -z "$(grep -vE '^(-rw-r--r--|-rwxr-xr-x|drwxr-xr-x|lrwxrwxrwx) root/root' "$work/contents")" ]
check "no file is in two packages" [ -z "$(sort "$work/packed" | uniq -d)" ]

# What package_files.cmake does is all that may differ.
(cd "$work/installed" && find . ! -type d) |
    sed -E '/\/doc\/mcgen\/LICENSE$/d; s,(/man/man1/.*),\1.gz,; s,/zsh/site-functions/,/zsh/vendor-completions/,' | sort >"$work/wanted"
grep -vE '/doc/[a-z0-9-]+/(copyright|changelog\.gz)$' "$work/packed" | sort >"$work/got"
different=$(diff "$work/wanted" "$work/got")
check "the packages have what is installed: $different" [ -z "$different" ]
check "a page for each program" [ "$(grep -c '/man1/mc[a-z]*\.1\.gz$' "$work/got")" = 3 ]
for page in "$work"/mcgen/usr/share/man/man1/*.gz; do expect 0 "" gzip -t "$page"; done
differ=$(cd "$work/installed" && find . -type f ! -name '*.so*' ! -path './usr/bin/*' | while read -r file; do
    grep -qxF "$file" "$work/packed" || continue
    cmp -s "$file" "$work/mcgen/$file" || cmp -s "$file" "$work/libmcrt-dev/$file" || echo "$file"
done)
check "and what is in the files is the same: $differ" [ -z "$differ" ]

# Each library that a program or library loads belongs to a package that is named; of Debian 12 and Ubuntu 24.04 these.
depends() { dpkg-deb --field "$packages/$1_${version}_$architecture.deb" Depends; }
for name in libmcrt1 mcgen; do
    for file in "$work/$name"/usr/bin/* "$work/$name"/usr/lib/*.so.? "$work/$name"/usr/lib/*/*.so.?; do
        [ -f "$file" ] || continue
        for needed in $(readelf -d "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
            owner=$(dpkg-query --search "*/$needed" | sed -n 's/:.*//p' | sort -u | paste -sd'|')
            check "$name depends on $owner for $needed" grep -qwE "${owner:-none}" <(depends "$name")
        done
    done
    others=$(depends "$name" | tr ',' '\n' | sed 's/^ *//; s/ .*//' | grep -vxE 'libc6|libgomp1|libb2-1|libjansson4|liblua5\.4-0|libxxhash0|zlib1g')
    check "$name depends on what both have, not on: $others" [ -z "$others" ]
done
check "headers go with the library of their version" [ "$(depends libmcrt-dev)" = "libmcrt1 (= $version)" ]
check "ldconfig is called" grep -q ldconfig "$work/libmcrt1.control/triggers"
check "who links with libmcrt depends on libmcrt1" grep -q "^libmcrt 1 libmcrt1 (>= $version)" "$work/libmcrt1.control/shlibs"

# Unpacked they run, wherever they lie.
expect 0 ".visible .entry" "$work/mcgen/usr/bin/mcgen" --arch sm_80 spmm_l8r8
check "stripped" [ -z "$(nm "$work/mcgen/usr/bin/mcrun" 2>/dev/null)" ]
finish
