#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers
# The model of a graph is byte-identical: written twice, and with the nodes and
# edges of its file in another order.
. "${top_srcdir:=.}/tests/support/tap.sh"

python=${MOIRAI_PYTHON:-python3}
data=${MOIRAI_DATA:-$top_srcdir/../shared/data}
"$python" -c 'import random' 2>/dev/null || skip_all "there is no Python"
[ -x "$top_builddir/tests/support/write_problems" ] ||
    skip_all "tests/support/write_problems is not built: Check is missing"

shuffles=$(cases '1 2' '1 2' '1 2 3')

# Writes permuted copies of a graph, under its own name, which is in the model,
# each in its own folder with the cluster.
write_shuffled()
{
    stem=$(basename "$1" .graphml)
    for seed in $shuffles; do
        mkdir -p "$work/$seed"
        cp "${1%.graphml}.cluster.xml" "$work/$seed/" &&
            "$python" "$top_srcdir/tests/cli/shuffle_graphml.py" "$seed" "$1" \
                "$work/$seed/$stem.graphml" || return
    done
}

# Prints the digest of a model, or why no placement exists. Models have no paths
# of inputs in the working folder.
bytes_of()
{
    graph=$1
    shift
    (cd "$(dirname "$graph")" && moirai-emit -q "$@" "$(basename "$graph")") \
        >"$work/model" 2>"$work/err"
    status=$?
    cat "$work/err"
    cksum <"$work/model"
}

# All permutations of a graph give one model.
is_stable()
{
    graph=$1
    shift
    bytes_of "$graph" "$@" >"$work/wanted"
    bytes_of "$graph" "$@" >"$work/got"
    for seed in $shuffles; do
        bytes_of "$work/$seed/$(basename "$graph")" "$@" >>"$work/got"
    done
    { [ -s "$work/model" ] || [ $status -eq 3 ]; } &&
        [ "$(sort -u "$work/got")" = "$(sort -u "$work/wanted")" ] && return
    echo "moirai-emit $* $graph"
    cat "$work/wanted" "$work/got"
    return 1
}

all_formats_are_stable()
{
    for formulation in compact paper getf sct; do
        is_stable "$1" --format lp --formulation $formulation || return
    done
    is_stable "$1" --format mps --formulation compact &&
        is_stable "$1" --format mps --tensors per-edge --congestion link
}

mkdir "$work/problems"
"$top_builddir/tests/support/write_problems" "$work/problems" 0 4 || exit 99
for graph in "$work"/problems/*.graphml "$data"/authors/example-1.graphml; do
    name=$(basename "$graph" .graphml)
    if [ ! -r "$graph" ]; then
        skip "models of $name" "there is no $graph"
        continue
    fi
    ok "$name can be written in other orders" write_shuffled "$graph"
    ok "models of $name are the same" all_formats_are_stable "$graph"
done
for formulation in getf compact; do
    graph=$data/authors/GoogLeNet.graphml
    if [ -r "$graph" ] && write_shuffled "$graph"; then
        ok "$formulation of GoogLeNet is the same" \
            is_stable "$graph" --formulation $formulation --format mps
    else
        skip "$formulation of GoogLeNet" "there is no $graph"
    fi
done

if ! in_ci; then
    done_testing
    exit
fi

# Where memory is short the search before the model takes seconds: work ends it,
# not the clock, which runs faster when all its threads share one processor.
"$python" -B -c 'import sys
sys.path.insert(0, sys.argv[1])
from memory_zoo import spread_problem
spread_problem(sys.argv[2], 1)' "$top_srcdir/bench" "$work"
one=
if taskset -c 0 true 2>/dev/null; then
    one="taskset -c 0"
fi
moirai-emit -c "$work/spread1.xml" -o "$work/all.lp" \
    "$work/spread1.graphml" 2>"$work/err"
$one moirai-emit -q -c "$work/spread1.xml" -o "$work/one.lp" \
    "$work/spread1.graphml"
if grep -q 'was stopped' "$work/err"; then
    skip "the model where memory is short" "120 s are too few here"
else
    ok "the model where memory is short is the same on one processor" \
        cmp "$work/all.lp" "$work/one.lp"
fi
done_testing
