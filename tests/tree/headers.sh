#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers
# Every header compiles alone, so that none depends on what was included
# before it.
. "${top_srcdir:=.}/tests/support/tap.sh"

: "${CC:=cc}"

headers=$(cd "$top_srcdir" &&
    find src models solvers exec -name '*.h' 2>/dev/null | sort)

# An empty header would make a translation unit that C forbids.
compiles()
{
    printf '#include "%s"\ntypedef int unit_not_empty;\n' "$2" >"$work/one.c"
    # Flags are words, so they are not quoted.
    # shellcheck disable=SC2086
    $CC -std=c11 $CPPFLAGS -I"$1/src" -I"$1" -Wall -Wextra -Wpedantic \
        -Werror -fsyntax-only "$work/one.c"
}

has()
{
    # shellcheck disable=SC2086
    echo "#include <$1>" | $CC $CPPFLAGS -E - >/dev/null 2>&1
}

# Prints what a header needs and is not installed; fails when nothing is
# missing.
lacks()
{
    if grep -qF '#include <mpi.h>' "$top_srcdir/$1" && ! has mpi.h; then
        echo MPI
        return
    fi
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

for header in $headers; do
    if missing=$(lacks "$header"); then
        skip "$header compiles alone" "there is no $missing"
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
