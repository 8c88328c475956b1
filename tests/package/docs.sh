#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: dist no-sanitizers
# make docs: every manual is a page, the index names all of them, and no link
# leads nowhere.
. "${top_srcdir:=.}/tests/support/tap.sh"

unset MAKEFLAGS MFLAGS MAKELEVEL
command -v mandoc >/dev/null || skip_all "mandoc is not installed"

# Prints the links of the pages in a folder to files that it does not have.
dead_links()
{
    grep -ho 'href="[^"]*"' "$1"/*.html | sed 's/href="//; s/"$//; s/#.*//' |
        sort -u | while read -r address; do
        case $address in
        '' | http://* | https://*) ;;
        *) [ -e "$1/$address" ] || echo "$address" ;;
        esac
    done
}

plan 6

ok "make docs" sh -c 'cd "$1" && make docs' - "$top_builddir"
pages=$top_builddir/docs/html
(cd "$top_srcdir/man" && ls ./*.[1-9]) | sed 's|./||; s/$/.html/' | sort \
    >"$work/wanted"
is "a page for every manual" \
    "$(cd "$pages" && find . -name '*.[1-9].html' | sed 's|./||' | sort)" \
    "$(cat "$work/wanted")"
is "the index has all" \
    "$(grep -o '"moirai[^"]*[1-9][.]html"' "$pages/index.html" |
        tr -d '"' | sort)" "$(cat "$work/wanted")"
is "no link leads nowhere" "$(dead_links "$pages")" ""
ok "the tutorial has its commands" \
    grep -q '\$ moirai-place -q inception.graphml' "$pages/tutorial.html"
mkdir "$work/pages"
echo '<a href="nowhere.html">' >"$work/pages/a.html"
is "a dead link is found" "$(dead_links "$work/pages")" nowhere.html
