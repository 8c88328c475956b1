#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: dist no-sanitizers
# Every source and every test in the tree is in the Makefile: one that is not
# would be missing from the tarball, or would never run.
. "${top_srcdir:=.}/tests/support/tap.sh"

# Prints the sources and tests below $1 that neither its Makefile.am nor a
# room.am names.  A test program is named without its ".c".
unlisted()
{
    (
        cd "$1" || exit 99
        find . -name room.am | sort | while read -r room; do
            folder=${room%/room.am}
            sed "s|%D%|${folder#./}|g" "$room"
        done | cat Makefile.am - >"$work/named"
        for top in src models solvers exec tests man bench; do
            [ ! -d "$top" ] || find "$top" -name '*.[ch]' -o -name '*.cu' \
                -o -name '*.cuh' -o -name '*.sh' -o -name '*.py' -o -name '*.[1-9]'
        done | grep -v '^tests/standin/kernels/' | sort | awk '
            NR == FNR {
                sub(/#.*/, "")
                for (i = 1; i <= NF; i++)
                    named[$i]
                next
            }
            {
                program = $0
                sub(/[.]c$/, "", program)
            }
            !($0 in named) && !(program in named)' "$work/named" -
    )
}

plan 3

is "every source and test is in the Makefile" "$(unlisted "$top_srcdir")" ""

mkdir -p "$work/src/base" "$work/tests"
printf 'a = src/base/out.c \\\n\ttests/test_out\n# src/base/in.c\n' \
    >"$work/Makefile.am"
touch "$work/src/base/out.c" "$work/tests/test_out.c"
is "a program is named without its suffix" "$(unlisted "$work")" ""
touch "$work/src/base/in.c" "$work/src/base/out.h" "$work/tests/test_ou.c"
is "what is not named is found" "$(unlisted "$work" | tr '\n' ' ')" \
    "src/base/in.c src/base/out.h tests/test_ou.c "
