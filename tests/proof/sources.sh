#!/usr/bin/env bash
# A changed byte of the simulator changes the keys of the kernels that reach it: sources.sh CC NM SOURCE LIBPTXSIM OBJECT...
# Sources are changed in a copy; what the simulator does stays as it is.
set -u
cc=$1 nm=$2 root=$3 library=$4
shift 4
objects=("$@")
here=$root/tests/proof
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
fail() { echo "failed: $*"; failed=$((failed + 1)); }
cp -r "$root/sim" "$work/sim"

# Two kernels: one with mma and prmt, one that only adds and stores.
with_mma=$root/tests/gen/golden/default.ptx
cat >"$work/plain.ptx" <<'END'
.version 8.0
.target sm_80
.address_size 64
.visible .entry plain(.param .u64 c)
{
    .reg .b32 %r; .reg .b64 %d;
    ld.param.u64 %d, [c];
    mov.u32 %r, %tid.x;
    mad.wide.u32 %d, %r, 4, %d;
    st.global.u32 [%d], %r;
    ret;
}
END

# keys: of the two kernels, with the sources as they are in the copy, in $mma_key and $plain_key
keys() {
    "$here/sim_sources.sh" "$nm" "$work/sim" "$work/sim_sources.h" "${objects[@]}" || fail "sim_sources.sh"
    "$cc" -std=c17 -D_GNU_SOURCE -I"$work" -I"$here" -I"$root/sim" "$here/key.c" "$here/sim_key.c" "$library" -lxxhash -lm -pthread \
        -o "$work/sim_key" || fail "sim_key does not build"
    { read -r mma_key && read -r plain_key; } < <("$work/sim_key" "$with_mma" "$work/plain.ptx") || fail "no keys"
}

# changed FILE WANT_MMA WANT_PLAIN [LINE]: a line more in FILE changes ("yes") each kernel's key, or does not ("no")
changed() {
    cp "$work/sim/$1" "$work/before"
    echo "${4:-extern int changed;}" >>"$work/sim/$1"
    keys
    [ "$([ "$mma_key" != "$first_mma" ] && echo yes || echo no)" = "$2" ] || fail "$1 and the kernel with mma: want $2"
    [ "$([ "$plain_key" != "$first_plain" ] && echo yes || echo no)" = "$3" ] || fail "$1 and the plain kernel: want $3"
    cp "$work/before" "$work/sim/$1"
}

keys
first_mma=$mma_key first_plain=$plain_key
[ "$mma_key" != "$plain_key" ] || fail "the kernels have one key"
changed exec.c yes yes       # the core
changed lanes.h yes yes      # a header
changed exec_mma.c yes no    # an executor
changed mma_count.c yes no   # what it calls
changed exec_matrix.c no no
changed exec.c no no '  /* a comment, "quoted */'
changed exec.c yes yes 'extern const char *text; /* and */ // a declaration'

# What nobody calls is taken for the core's.
echo 'int sim_orphan(void); int sim_orphan(void) { return 1; }' >"$work/sim/orphan.c"
mkdir -p "$work/ptxsim.dir"
"$cc" -c "$work/sim/orphan.c" -o "$work/ptxsim.dir/orphan.c.o"
objects+=("$work/ptxsim.dir/orphan.c.o")
keys
[ "$mma_key" != "$first_mma" ] && [ "$plain_key" != "$first_plain" ] || fail "a new file that nobody calls"
first_mma=$mma_key first_plain=$plain_key
changed orphan.c yes yes

echo "$((${#objects[@]} - 1)) sources of the simulator: $failed failed"
[ $failed = 0 ]
