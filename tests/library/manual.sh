#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The manual of the library: every function of the interface is in moirai(3), in
# its synopsis and in its text, and no other.
. "${top_srcdir:=.}/tests/support/tap.sh"

page=$top_srcdir/man/moirai.3
sed 's/@@.*//' "$top_srcdir/tests/library/libmoirai.symbols" >"$work/symbols"

plan 3

sed -n 's/^\.Fo \(.*\)/\1/p' "$page" | LC_ALL=C sort >"$work/synopsis"
is "the synopsis has every function" \
    "$(diff "$work/symbols" "$work/synopsis")" ""
grep '^\.' "$page" | grep -o 'Fn moirai_[a-z_]*' | sed 's/Fn //' |
    LC_ALL=C sort -u |
    grep -v '^moirai_view_transfer_ns$' >"$work/text"
is "the text names every function" "$(diff "$work/symbols" "$work/text")" ""

# Prints "struct field" of the header; comments have no semicolons at the end of
# lines.
fields_of_header()
{
    awk '/^typedef struct moirai_[a-z_]* \{/ { name = $3; next }
        /^} moirai_/ { name = ""; next }
        name == "" { next }
        { sub(/\/\*.*/, "") }
        /;[ ]*$/ && !/\)/ && !/^ *[*]/ {
            sub(/;.*/, "")
            n = split($0, parts, ",")
            for (i = 1; i <= n; i++) {
                field = parts[i]
                sub(/\[.*/, "", field)
                sub(/.*[ *]/, "", field)
                print name, field
            }
        }
        /\(\*[a-z_]*\)\(/ {
            field = $0
            sub(/.*\(\*/, "", field)
            sub(/\).*/, "", field)
            print name, field
        }' "$top_srcdir/src/moirai.h" | LC_ALL=C sort
}

# Prints the same of the manual.
fields_of_manual()
{
    awk '/^\.Vt moirai_[a-z_]* :/ { name = $2 }
        /^\.It Fa / && name {
            for (i = 3; i <= NF; i++)
                if ($i != ",")
                    print name, $i
        }
        /^\.El/ { name = "" }' "$page" | LC_ALL=C sort
}

fields_of_header >"$work/header"
fields_of_manual >"$work/fields"
is "it has the fields of all structs" \
    "$(diff "$work/header" "$work/fields")" ""
