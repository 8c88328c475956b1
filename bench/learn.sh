#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# [ROUNDS=400] learn.sh [METHOD...]
#
# Episodes per second of the learning methods, training included, by the size of
# the graph, their memory, and the makespan of the authors' GoogLeNet after some
# thousand episodes against HEFT.  CPU seconds of one thread, independent of
# background load.
#
# moirai-place and moirai-zoo are on the PATH, MOIRAI_DATA has the networks,
# GNU time measures.  Exits 1 when a limit is missed, 77 without the networks.
set -eu
# shellcheck source=bench/verdict.sh
. "$(dirname "$0")/verdict.sh"

authors=${MOIRAI_DATA:-}/authors
ROUNDS=${ROUNDS:-400}
[ $# -gt 0 ] || set -- placeto hrl

if [ ! -r "$authors/GoogLeNet.graphml" ]; then
    echo "MOIRAI_DATA has no authors/GoogLeNet.graphml" >&2
    exit 77
fi

work=$(mktemp -d "${TMPDIR:-.}/moirai-bench.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

# measure METHOD ROUNDS ARGUMENT...: seconds of one thread, and kB at most.
measure()
{
    measured_method=$1
    measured_rounds=$2
    shift 2
    env time -o "$work/time" -f '%U %M' moirai-place -q --fusion none \
        --congestion port --threads 1 --time 0 --method "$measured_method" \
        --rounds "$measured_rounds" "$@" >"$work/out"
    cat "$work/time"
}

# episodes METHOD NAME MANY ARGUMENT...: the time of one batch, and of MANY
# more beyond that: reading and the bound are not training.
episodes()
{
    method=$1
    name=$2
    many=$3
    shift 3
    first=$(measure "$method" 1 "$@")
    all=$(measure "$method" $((many + 1)) "$@")
    rate=$(awk "BEGIN { s = ${all% *} - ${first% *}
        print 8 * $many / (s > 0.01 ? s : 0.01) }")
    line "$method: $name, episodes a second" "$rate" - - "$((8 * many)) of them"
    line "$method: $name, GB" "$(awk "BEGIN { print ${all#* } / 1e6 }")" 4 '<' \
        'resident at most'
}

# makespan METHOD ARGUMENT...: of the authors' GoogLeNet, in ms.
makespan()
{
    measure "$@" --fusion none "$authors/GoogLeNet.graphml" >"$work/effort"
    sed -n '2s/^[^ ]* *\([0-9.]*\) .*/\1/p' "$work/out"
}

moirai-zoo --layers 339 --hidden 256 --heads 4 -o "$work/large.graphml"
heft=$(makespan heft 1)
for method; do
    episodes "$method" 'GoogLeNet' 10 "$authors/GoogLeNet.graphml"
    episodes "$method" 'Transformer' 2 "$authors/transformer.graphml"
    episodes "$method" '20,000 ops' 1 -c inter-server "$work/large.graphml"
    learned=$(makespan "$method" "$ROUNDS")
    line "$method: GoogLeNet, of HEFT's makespan" \
        "$(awk "BEGIN { print $learned / $heft }")" 1 '<' \
        "$((8 * ROUNDS)) episodes, $(cut -d ' ' -f 1 "$work/effort") s; HEFT $heft ms"
done
exit "$failed"
