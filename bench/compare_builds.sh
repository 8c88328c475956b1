#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# compare_builds.sh - byte comparison of the outputs of two builds.
#
#     bench/compare_builds.sh OLD NEW [DATA]
#
# OLD and NEW are build folders.  Models (LP and MPS, every formulation and
# rule), coarsened graphs, reports, solutions of the search, schedules and plans
# are written by both for the examples, the paper's networks and DATA, and
# compared.  Exit status: 0 all equal, 1 something differs, 2 usage.
set -u

[ $# -ge 2 ] || { echo "Usage: $0 OLD NEW [DATA]" >&2; exit 2; }
old=$(cd "$1" && pwd) || exit 2
new=$(cd "$2" && pwd) || exit 2
here=$(cd "$(dirname "$0")/.." && pwd)
data=${3-${MOIRAI_DATA-$here/../shared/data}}
[ ! -d "$data" ] || data=$(cd "$data" && pwd)

work=$(mktemp -d "${TMPDIR:-/tmp}/moirai-compare.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
equal=0
unequal=0

# pair NAME COMMAND...: runs COMMAND, the first word of which is a command of
# the build and which writes to standard output, with both builds. Exit status
# and errors are compared, too.
pair()
{
    name=$1
    shift
    for build in "$old" "$new"; do
        [ "$build" = "$old" ] && side=old || side=new
        mkdir -p "$work/$side"
        (
            cd "$work/$side" && PATH=$build:$PATH &&
                { "$@" 2>stderr; echo "exit $?"; cat stderr; }
        ) >"$work/$side.txt"
    done
    if cmp -s "$work/old.txt" "$work/new.txt"; then
        equal=$((equal + 1))
    else
        unequal=$((unequal + 1))
        echo "differs: $name"
        diff "$work/old.txt" "$work/new.txt" | head -n "${LINES_SHOWN:-6}"
    fi
}

# Models of a graph on a cluster, by every formulation and rule.
models()
{
    for formulation in compact paper getf sct pesto; do
        for format in lp mps; do
            pair "emit $1 $formulation $format" moirai-emit \
                --formulation=$formulation --format=$format -c "$3" "$2"
        done
    done
    for rules in '--congestion=channel' '--congestion=link --tensors=once' \
        '--congestion=none --memory=live' '--memory=none --fusion=default'; do
        # Options are words.
        # shellcheck disable=SC2086
        pair "emit $1 $rules" moirai-emit $rules -c "$3" "$2"
    done
    pair "emit $1 stats" moirai-emit --stats --json -c "$3" "$2"
}

# Reading, coarsening, placement, checks and plans.
rest()
{
    pair "info $1" moirai-info --json "$2"
    pair "coarsen $1" moirai-coarsen "$2"
    for method in single m-topo m-etf m-sct getf heft peft cpop; do
        pair "place $1 $method" sh -c "moirai-place --method=$method \
            --threads=1 --time=0 -q -c '$3' -o p.sol '$2' >/dev/null
            cat p.sol; MOIRAI_PATH=\$(dirname '$2') moirai-check --json \
            --schedule=s.json -c '$3' -g '$2' p.sol; cat s.json
            moirai-exec --dry-run --backend=cpu --random-weights=1 -q \
            --plan=x.json -c '$3' -g '$2' p.sol >/dev/null; cat x.json
            rm -f p.sol s.json x.json"
    done
}

search()
{
    pair "place $1 moirai" sh -c "moirai-place --threads=2 --time=0 --rounds=2 \
        --assist=none -q -c '$3' -o p.sol '$2' >/dev/null; cat p.sol
        rm -f p.sol"
}

for graph in "$here"/examples/inception.graphml "$data"/authors/*.graphml \
    "$data"/neusight/*layer.graphml; do
    [ -e "$graph" ] || continue
    name=$(basename "$graph" .graphml)
    cluster=${graph%.graphml}.cluster.xml
    models "$name" "$graph" "$cluster"
    rest "$name" "$graph" "$cluster"
    search "$name" "$graph" "$cluster"
done
for graph in "$here"/examples/two_branches/model.xml \
    "$here"/examples/tiny_ir.xml "$data"/openvino/*.xml \
    "$data"/runnable/*/model.xml; do
    [ -e "$graph" ] || continue
    name=$(basename "$(dirname "$graph")")/$(basename "$graph")
    case $graph in */openvino/*) cluster=intra-server ;; *) cluster=inter-server ;; esac
    pair "emit $name" moirai-emit -c "$cluster" "$graph"
    rest "$name" "$graph" "$cluster"
done
for model in swin-1.8b gpt3-330m alphafold2-87m; do
    pair "zoo $model" moirai-zoo "$model"
    PATH=$new:$PATH moirai-zoo "$model" >"$work/$model.graphml"
    pair "emit zoo $model" moirai-emit -c intra-server --fusion=default \
        "$work/$model.graphml"
    search "$model" "$work/$model.graphml" inter-server
done

echo "$equal equal, $unequal different"
[ "$unequal" -eq 0 ]
