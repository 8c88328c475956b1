#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# emit.sh DRIVER [TIMES]
#
# The authors' Transformer as a model in the paper's form, written to a file:
# speed relative to cp of that file on the same file system, and peak memory.
# Everything is measured TIMES times, alternately, and the best counts, since
# background load only adds.  Then how many rows the compact
# model has of those of the paper's, network by network.
#
# DRIVER is bench/read_write, moirai-emit is on the PATH, MOIRAI_DATA has the
# networks.  Exits 1 when a limit is missed, 77 without the networks.
set -eu
# shellcheck source=bench/verdict.sh
. "$(dirname "$0")/verdict.sh"

driver=$1
times=${2:-5}
authors=${MOIRAI_DATA:-}/authors
graph=$authors/transformer.graphml

if [ ! -r "$graph" ]; then
    echo "MOIRAI_DATA has no authors/transformer.graphml" >&2
    exit 77
fi

work=$(mktemp -d "${TMPDIR:-.}/moirai-bench.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

ratio()
{
    awk "BEGIN { print $1 / $2 }"
}

best()
{
    sort -n "$work/$1" | sed 's/ .*//;1q'
}

peak_mb()
{
    awk '{ if ($2 > peak) peak = $2 } END { print peak / 1000 }' "$work/$1"
}

# write FORM: one model, and a copy of it.  Each starts without its file.
write()
{
    rm -f "$work/model.$1" "$work/copy"
    "$driver" run moirai-emit -q --fusion none \
        --formulation paper -o "$work/model.$1" \
        "$graph" >>"$work/$1"
    "$driver" run cp "$work/model.$1" "$work/copy" >>"$work/cp-$1"
}

# print_form FORM LIMIT
print_form()
{
    timed_line "$1: speed of writing / speed of cp" \
        "$(ratio "$(best "cp-$1")" "$(best "$1")")" "$2" '>=' \
        "$(best "$1") s / $(best "cp-$1") s"
    line "$1: peak memory, MB" "$(peak_mb "$1")" 300 '<' \
        "$(($(wc -c <"$work/model.$1") / 1000000)) MB written"
    rm -f "$work/model.$1" "$work/copy"
}

# Counting, and a model of a few rows: the fixed cost before any row.
count()
{
    "$driver" run moirai-emit -q --fusion none --formulation paper --stats \
        -o "$work/stats" "$graph" >>"$work/count"
    "$driver" run moirai-emit -q --fusion none --formulation getf --stats \
        -o "$work/stats" "$graph" >>"$work/prepare"
}

# time_form FORM LIMIT
time_form()
{
    i=0
    while [ "$i" -lt "$times" ]; do
        write "$1"
        [ "$1" != lp ] || count
        i=$((i + 1))
    done
    print_form "$1" "$2"
}

# rows GRAPH OPTION...
rows()
{
    network=$1
    shift
    moirai-emit -q --fusion none --no-strengthen --stats \
        --tensors per-edge "$@" \
        "$authors/$network.graphml" | sed -n 's/^rows  *\([0-9]*\)$/\1/p'
}

compare_rows()
{
    compact=$(rows "$1")
    paper=$(rows "$1" --formulation paper)
    closure=$(rows "$1" --formulation paper --closure)
    line "$1: rows compact / paper" "$(ratio "$compact" "$paper")" 0.5 '<=' \
        "$compact / $paper"
    line "$1: rows compact / paper --closure" \
        "$(ratio "$compact" "$closure")" 0.1 '<=' "$compact / $closure"
}

time_form lp 0.5
timed_line "counting / writing, both from the first row on" \
    "$(ratio "($(best count) - $(best prepare))" \
        "($(best lp) - $(best prepare))")" 0.5 '<' \
    "$(best count) s, $(best lp) s, less $(best prepare) s"
time_form mps -
for network in example-1 GoogLeNet inceptionv4 transformer; do
    compare_rows "$network"
done
exit $failed
