#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: dist no-sanitizers
# One name, one thing: no mo_ type is defined in two places, and no global symbol
# by two object files of the product.  Two headers with the same type cannot be
# included together, and two archives with the same symbol cannot be linked.
. "${top_srcdir:=.}/tests/support/tap.sh"

# Prints the mo_ types below the folders of $1 that have two definitions: a
# struct, union or enum with a body, or a typedef of anything else.  A repeated
# "typedef struct mo_x mo_x;" is a declaration.
types_twice()
{
    (
        cd "$1" || exit 99
        for top in src models solvers exec; do
            [ ! -d "$top" ] || find "$top" -name '*.[ch]'
        done | LC_ALL=C sort | xargs awk '
            function define(name) {
                if (name in place && place[name] != FILENAME)
                    print name ": " place[name] " and " FILENAME
                else
                    place[name] = FILENAME
            }
            /^(typedef )?(struct|union|enum) mo_[a-z0-9_]+( \{|$)/ {
                name = $0
                sub(/^typedef /, "", name)
                split(name, word, " ")
                if (name ~ /\{/)
                    define(word[2])
                next
            }
            /^\} mo_[a-z0-9_]+;/ {
                name = $2
                sub(/;.*/, "", name)
                if (!(name in place) || place[name] != FILENAME)
                    define(name)
                next
            }
            /^typedef / && !/^typedef (struct|union|enum) mo_[a-z0-9_]+ mo_/ \
                && /;$/ && !/\(/ {
                name = $NF
                sub(/;$/, "", name)
                sub(/^[*]+/, "", name)
                sub(/\[.*/, "", name)
                if (name ~ /^mo_/)
                    define(name)
            }'
    )
}

# Prints the symbols that two members of the given archives define.
symbols_twice()
{
    nm -A -g --defined-only "$@" 2>/dev/null |
        awk 'NF > 2 && $(NF - 1) ~ /^[TDBRC]$/ { print $NF }' | LC_ALL=C sort | uniq -d
}

plan 6

is "no type is defined twice" "$(types_twice "$top_srcdir")" ""

set --
for archive in libmoirai.a src/driver/libdriver.a exec/libexec.a \
    exec/libtile.a; do
    [ ! -e "$top_builddir/$archive" ] || set -- "$@" "$top_builddir/$archive"
done
if [ $# -eq 4 ] && command -v nm >/dev/null; then
    is "no global symbol is defined twice" "$(symbols_twice "$@")" ""
    # Every global symbol carries the prefix; C's own and main are outside.
    is "every global symbol begins with mo_" "$(nm -g --defined-only "$@" \
        2>/dev/null | awk '$2 ~ /^[TDBRC]$/ && $3 !~ /^mo_/ { print $3 }' |
        LC_ALL=C sort -u | tr '\n' ' ')" ""
else
    skip "no global symbol is defined twice" "the archives are not built"
    skip "every global symbol begins with mo_" "the archives are not built"
fi

mkdir -p "$work/src/a" "$work/src/b"
cat >"$work/src/a/one.h" <<'END'
typedef struct mo_one {
    int x;
} mo_one;
typedef struct mo_other mo_other;
typedef int mo_count;
END
cat >"$work/src/b/two.h" <<'END'
typedef struct mo_other mo_other;
struct mo_other {
    int x;
};
typedef int (*mo_callback)(int x);
END
is "a declaration is not a definition" "$(types_twice "$work")" ""
printf 'struct mo_one {\n    int y;\n};\n' >"$work/src/b/three.c"
is "a struct that is defined twice is found" "$(types_twice "$work")" \
    "mo_one: src/a/one.h and src/b/three.c"
printf 'typedef long mo_count;\n' >"$work/src/b/three.c"
is "a typedef that is defined twice is found" "$(types_twice "$work")" \
    "mo_count: src/a/one.h and src/b/three.c"
