#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers
# Tests of the device code in exec/backend/cuda: embed.awk keeps its bytes, and
# every .cu and .cuh file compiles alone, by the definitions of its example
# block, for sm_90, with MOIRAI_LONG also for sm_80.  The compiler is nvcc, else clang where its CUDA
# front end works; nothing runs, no GPU is needed.
. "${top_srcdir:=.}/tests/support/tap.sh"
ci_only

embed()
{
    awk -f "$top_srcdir/exec/backend/cuda/embed.awk" "$@"
}

cat >"$work/some.cu" <<'EOF'
/* A comment. */
/* example:begin */
#define T float
/* example:end */

a = "\n"; \

/* embed: named */
  /* Two
   * lines. */
  b /* kept */

/* embed: last */
c
EOF
is "embed.awk keeps all but comments, examples and outer blank lines" \
    "$(embed "$work/some.cu")" '"a = \"\\n\"; \\\n"
static const char named[] =
"  b /* kept */\n"
    ;
static const char last[] =
"c\n"
    ;'
printf '/* a */ b\n' >"$work/mixed.cu"
complains "embed.awk refuses code behind a comment" 1 "mixed.cu:1" \
    embed "$work/mixed.cu"

archs=$(cases 90 90 "80 90")
code=
for arch in $archs; do
    code="$code -gencode arch=compute_$arch,code=sm_$arch"
done

# Compiles file $1 into $2.
with_nvcc()
{
    # Options are words.
    # shellcheck disable=SC2086
    nvcc -x cu -std=c++17 -w -I "$top_srcdir" -fatbin -o "$2" $code "$1"
}

with_clang()
{
    for arch in $archs; do
        clang -x cuda -std=c++17 -w -I "$top_srcdir" --cuda-device-only \
            --cuda-gpu-arch=sm_$arch -S -o "$2" "$1" || return
    done
}

echo '__global__ void nothing(void) {}' >"$work/nothing.cu"
if with_nvcc "$work/nothing.cu" "$work/nothing" >"$work/err" 2>&1; then
    compile=with_nvcc
elif with_clang "$work/nothing.cu" "$work/nothing" >>"$work/err" 2>&1; then
    compile=with_clang
else
    skip "device code compiles alone" "neither nvcc nor clang compiles CUDA"
    done_testing
    exit 0
fi

# Two at a time: most of the time is the start of the compiler.
compile_files()
{
    for file; do
        out=$(echo "$file" | tr / _)
        "$compile" "$top_srcdir/$file" "$work/$out" >"$work/$out.log" 2>&1 ||
            echo "$file" >>"$work/failed"
    done
}

sources=$(cd "$top_srcdir" &&
    find exec/backend/cuda -name '*.cu' -o -name '*.cuh' | sort)
touch "$work/failed"
# shellcheck disable=SC2046 # names without blanks
{
    compile_files $(echo "$sources" | sed -n 'n;p') &
    compile_files $(echo "$sources" | sed -n 'p;n')
    wait
}
for file in $sources; do
    if grep -qxF "$file" "$work/failed"; then
        fail "$file compiles alone"
        comment <"$work/$(echo "$file" | tr / _).log"
    else
        pass "$file compiles alone"
    fi
done
done_testing
