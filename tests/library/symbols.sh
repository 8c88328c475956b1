#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers
# Interface of the library: libmoirai.so exports what libmoirai.symbols lists,
# which only grows, and libmoirai.a defines the same and nothing else.
. "${top_srcdir:=.}/tests/support/tap.sh"

command -v nm >/dev/null || skip_all "nm is not installed"
list=$top_srcdir/tests/library/libmoirai.symbols
lib=$top_builddir/src/lib

# Sizes of what programs have on their stacks or plug-ins in their data: a
# change breaks programs that are not compiled again.
cat >"$work/sizes.c" <<'END'
#include "moirai.h"
#include <stdio.h>

int main(void)
{
    printf("%zu %zu %zu %zu %zu %zu\n", sizeof(moirai_error),
           sizeof(moirai_tensor), sizeof(moirai_transfer), sizeof(moirai_flow),
           sizeof(moirai_plugin_method), sizeof(moirai_plugin_solver));
    return 0;
}
END

plan 5

nm -D --defined-only "$lib"/libmoirai.so.1.0.0 |
    awk '$2 != "A" { print $3 }' | LC_ALL=C sort >"$work/shared"
is "the shared library exports what is listed" \
    "$(diff "$list" "$work/shared")" ""
nm -g --defined-only "$lib/libmoirai.a" | awk 'NF == 3 { print $3 }' |
    LC_ALL=C sort >"$work/static"
is "the static library defines the same" \
    "$(sed 's/@@.*//' "$list" | diff - "$work/static")" ""
sed -n 's/^.*[ *]\(moirai_[a-z_]*\)(.*/\1/p; s/^\(moirai_[a-z_]*\)(.*/\1/p' \
    "$top_srcdir/src/moirai.h" >"$work/words"
is "all of it is in the header" \
    "$(sed 's/@@.*//' "$list" | while read -r name; do
        grep -qx "$name" "$work/words" || echo "$name"
    done)" ""
ok "the header compiles alone" ${CC:-cc} -std=c11 -Wpedantic -Werror \
    -I"$top_srcdir/src" -o "$work/sizes" "$work/sizes.c"
is "structs have their sizes" "$("$work/sizes")" "1544 40 32 12 32 32"
