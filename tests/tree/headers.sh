#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers
# Every header compiles alone, so that none depends on what was included
# before it. What a source includes first, its own header, was compiled alone by
# the build; .ci/run compiles those, too.
. "${top_srcdir:=.}/tests/support/tap.sh"

: "${CC:=cc}"

headers=$(cd "$top_srcdir" &&
    find src models solvers exec -name '*.h' 2>/dev/null | sort)
if ! in_ci; then
    cd "$top_srcdir" || exit 1
    find src models solvers exec -name '*.c' -exec awk '
        /^#include/ && $2 != "<config.h>" {
            own = header = substr(FILENAME, 1, length(FILENAME) - 1) "h"
            sub(/^src\//, "", own)
            if ($2 == "\"" own "\"")
                print header
            nextfile
        }' {} + | sort >"$work/built"
    headers=$(echo "$headers" | comm -23 - "$work/built")
    cd "$OLDPWD" || exit 1
fi

# write_unit FILE HEADER: a source that includes the header alone; an empty
# header would make a translation unit that C forbids.
write_unit()
{
    printf '#include "%s"\ntypedef int unit_not_empty;\n' "$2" >"$1"
}

# compile_units ROOT FILE...
compile_units()
{
    root=$1
    shift
    # Flags are words, so they are not quoted.
    # shellcheck disable=SC2086
    $CC -std=c11 $CPPFLAGS -I"$root/src" -I"$root" -Wall -Wextra -Wpedantic \
        -Werror -fsyntax-only "$@"
}

compiles()
{
    write_unit "$work/one.c" "$2"
    compile_units "$1" "$work/one.c"
}

has()
{
    # shellcheck disable=SC2086
    echo "#include <$1>" | $CC $CPPFLAGS -E - >/dev/null 2>&1
}

with_mpi=$(cd "$top_srcdir" && grep -lF '#include <mpi.h>' $headers)

# Prints what a header needs and is not installed; fails when nothing is
# missing.
lacks()
{
    case $with_mpi in
    *"$1"*) ! has mpi.h && echo MPI && return ;;
    esac
    case $1 in
    exec/backend/cuda/*) ! has cuda.h && echo CUDA ;;
    exec/transport/secure/openssl_internal.h)
        ! has openssl/ssl.h && echo OpenSSL ;;
    exec/transport/nccl/nccl_api.h | exec/transport/nccl/p2p_internal.h)
        ! has nccl.h && echo NCCL ;;
    *) return 1 ;;
    esac
}

plan $(($(echo "$headers" | wc -l) + 1))

# All in one call of the compiler; where that fails, each by itself.
mkdir "$work/units"
n=0
for header in $headers; do
    n=$((n + 1))
    lacks "$header" >/dev/null ||
        write_unit "$work/units/$n.c" "$header"
done
all=false
if compile_units "$top_srcdir" "$work"/units/*.c 2>/dev/null; then
    all=true
fi
n=0
for header in $headers; do
    n=$((n + 1))
    if [ ! -e "$work/units/$n.c" ]; then
        skip "$header compiles alone" "there is no $(lacks "$header")"
    elif $all; then
        pass "$header compiles alone"
    else
        ok "$header compiles alone" compiles "$top_srcdir" "$header"
    fi
done

mkdir -p "$work/src"
echo 'size_t broken(void);' >"$work/src/broken.h"
if compiles "$work" broken.h 2>/dev/null; then
    fail "a header that does not compile alone is found"
else
    pass "a header that does not compile alone is found"
fi
