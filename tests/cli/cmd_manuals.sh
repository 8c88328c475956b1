#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers
# The manual pages: without fault for mandoc and groff, in step with --help, and
# with examples that run.
. "${top_srcdir:=.}/tests/support/tap.sh"

command -v mandoc >/dev/null || skip_all "mandoc is not installed"

# Everything mandoc has to say, but for pages that are not installed yet.
lint()
{
    mandoc -Tlint -Wstyle "$1" | grep -v 'referenced manual not found'
}

# What groff complains of, as where it takes a name for a macro and loses the
# rest of the page; nothing where there is no groff.
groff_says()
{
    ! command -v groff >/dev/null ||
        { groff -mandoc -Tascii "$1" >/dev/null; } 2>&1
}

# Pages the page refers to that are neither ours nor in this list.
dangling()
{
    sed -n 's/^\.Xr \([^ ]*\) \([0-9]\).*/\1.\2/p' "$1" |
        while read -r page; do
            case $page in
            dot.1 | xmllint.1 | gzip.1) ;;
            *) [ -e "$top_srcdir/man/$page" ] || echo "$page" ;;
            esac
        done
}

# "-o" and "--output", one a line, from the first words of a line of --help.
options_of_help()
{
    "$1" --help |
        sed -n 's/^  *\(-[-a-zA-Z0-9, ]*\).*/\1/p' |
        sed 's/  .*//' | tr -d ',' | tr ' ' '\n' | grep '^-' | sort -u
}

# The same from the items of the page's OPTIONS: ".It Fl o , -output Ar FILE".
options_of_page()
{
    sed -n '/^\.Sh OPTIONS/,/^\.S[hs]/s/^\.It Fl //p' "$1" |
        sed 's/ Ar .*//; s/ Ns .*//' | tr -d ',' | tr ' ' '\n' |
        sed -n 's/^\([^ ].*\)/-\1/p' | sort -u
}

# Options of command $2 that page $1 lacks (>), and others it has (<).
differences()
{
    options_of_page "$1" >"$work/page"
    options_of_help "$2" >"$work/help"
    diff "$work/page" "$work/help" | grep '^[<>]'
}

# The commands of the page's EXAMPLES, as a reader sees them.
examples_of_page()
{
    mandoc -Tascii -O width=400 "$1" | sed "s/.$(printf '\b')//g" |
        sed -n '/^EXAMPLES/,/^[A-Z]/s/^ *\$ //p'
}

# A second shows as much as the time that a page gives, unless MOIRAI_LONG.
run_example()
{
    if [ -z "${MOIRAI_LONG-}" ]; then
        # shellcheck disable=SC2001
        set -- "$(echo "$1" | sed 's/ --time [0-9]*/ --time 1/')"
    fi
    (cd "$work/examples" && sh -c "$1" </dev/null)
}

# What the examples of a page need that is not here; nothing where they can run.
lacks()
{
    [ "$1" != moirai-export.1 ] ||
        "${MOIRAI_PYTHON:-python3}" -c 'import onnx' 2>/dev/null ||
        echo "Python's package onnx is not installed"
}

commands_without_page()
{
    for program in "$top_builddir"/moirai "$top_builddir"/moirai-*; do
        # What others start for themselves has none.
        [ "${program##*/}" != moirai-scip ] || continue
        [ ! -f "$program" ] || [ ! -x "$program" ] ||
            [ -e "$top_srcdir/man/$(basename "$program").1" ] ||
            basename "$program"
    done
}

is "every command has a page" "$(commands_without_page)" ""

for page in "$top_srcdir"/man/*.[0-9]; do
    name=$(basename "$page")
    is "$name: mandoc finds no fault" "$(lint "$page")" ""
    is "$name: groff has nothing to say" "$(groff_says "$page")" ""
    is "$name: the pages it refers to exist" "$(dangling "$page")" ""

    case $name in
    moirai-*.1 | moirai.1)
        ok "$name: the command is there" command -v "${name%.1}"
        is "$name: has the options of --help and no other" \
            "$(differences "$page" "${name%.1}")" ""
        ;;
    esac

    rm -rf "$work/examples"
    mkdir "$work/examples"
    cp -R "$top_srcdir"/examples/* "$work/examples"
    chmod -R u+w "$work/examples"
    examples_of_page "$page" >"$work/commands"
    missing=$(lacks "$name")
    while read -r line; do
        if [ -n "$missing" ]; then
            skip "$name: $line" "$missing"
        else
            ok "$name: $line" run_example "$line"
        fi
    done <"$work/commands"
done

done_testing
