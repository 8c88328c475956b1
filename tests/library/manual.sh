#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: dist
# The manual of the library: every function of the interface is in moirai(3), in
# its synopsis and in its text, and no other.
. "${top_srcdir:=.}/tests/support/tap.sh"

page=$top_srcdir/man/moirai.3
sed 's/@@.*//' "$top_srcdir/tests/library/libmoirai.symbols" >"$work/symbols"

plan 2

sed -n 's/^\.Fo \(.*\)/\1/p' "$page" | LC_ALL=C sort >"$work/synopsis"
is "the synopsis has every function" \
    "$(diff "$work/symbols" "$work/synopsis")" ""
sed -n 's/^\.Fn \([a-z_]*\).*/\1/p' "$page" | LC_ALL=C sort -u |
    grep -v '^moirai_view_transfer_ns$' >"$work/text"
is "the text names every function" "$(diff "$work/symbols" "$work/text")" ""
