#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# read_write.sh DRIVER [OPS [TIMES]]
#
# Speed of reading and writing a large GraphML file, relative to xmllint, which
# parses the same file, and cp.  Everything is measured TIMES times, alternately,
# and the median counts.  DRIVER is bench/read_write,
# and moirai-zoo is on the PATH.  Exits 1 when a limit is missed.
set -eu
# shellcheck source=bench/verdict.sh
. "$(dirname "$0")/verdict.sh"

driver=$1
ops=${2:-1000000}
times=${3:-3}

# A layer with 16 heads has 203 ops.
layers=$(((ops + 202) / 203))

work=$(mktemp -d "${TMPDIR:-.}/moirai-bench.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
graph=$work/graph.graphml

median()
{
    sort -n "$work/$1" | awk '{ x[NR] = $1 } END { print x[int((NR + 1) / 2)] }'
}

moirai-zoo --layers $layers --hidden 1024 --heads 16 -q -o "$graph"
size_kb=$(($(wc -c <"$graph") / 1024))
echo "$((layers * 203)) ops, $((size_kb / 1024)) MiB"

i=0
while [ "$i" -lt "$times" ]; do
    "$driver" run xmllint --stream --noout "$graph" >>"$work/xmllint"
    "$driver" read "$graph" >>"$work/read"
    rm -f "$work/copy"
    "$driver" run cp "$graph" "$work/copy" >>"$work/cp"
    rm -f "$work/copy"
    "$driver" write "$graph" "$work/copy" >>"$work/write"
    i=$((i + 1))
done
cmp "$graph" "$work/copy"

read=$(median read)
xmllint=$(median xmllint)
write=$(median write)
copy=$(median cp)
peak_kb=$(awk '{ if ($2 > peak) peak = $2 } END { print peak }' "$work/read")

ratio()
{
    awk "BEGIN { print $1 / $2 }"
}

timed_line "reading / xmllint --stream" "$(ratio "$read" "$xmllint")" 2 '<=' \
    "$read s / $xmllint s"
line "peak memory / file size" "$(ratio "$peak_kb" "$size_kb")" 1 '<' \
    "$((peak_kb / 1024)) MiB / $((size_kb / 1024)) MiB"
timed_line "speed of writing / speed of cp" "$(ratio "$copy" "$write")" 0.5 '>=' \
    "$write s / $copy s"
exit $failed
