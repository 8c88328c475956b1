#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers
# Tests of moirai-emit --strengthen: the bound of the search is in the model,
# its placement is the start, and with both any solver confirms the optimum.
. "${top_srcdir:=.}/tests/support/tap.sh"

unset MOIRAI_CLUSTER
data=${MOIRAI_DATA:-$top_srcdir/../shared/data}
inception=$top_srcdir/examples/inception.graphml
most_seconds=300

# Prints the value of one key of the last --json output.
value()
{
    sed -n "s/^  \"$1\": \"\{0,1\}\([^\",]*\)\"\{0,1\},\$/\1/p" "$work/out"
}

has_solver()
{
    moirai-solve --list | grep -q "^$1 .*\(process\|library\)"
}

# Solves the model; its status and makespan go to $found.
solve()
{
    claim=$1
    shift
    exits "$claim" 0 moirai-solve -q --json --time $most_seconds \
        -o "$work/solved.sol" "$@"
    found="$(value status) $(value makespan_us)"
}

# a small network

moirai-emit -q --fusion none --no-strengthen "$inception" -o "$work/plain.lp"
exits "a strong model" 0 moirai-emit -q --fusion none --strengthen 30 \
    "$inception" -o "$work/strong.lp" --start "$work/start.sol" --map "$work/map.csv"
exits "and again" 0 moirai-emit -q --fusion none --strengthen 30 "$inception" \
    -o "$work/again.lp" --start "$work/again.sol"
ok "is the same: the search ended by itself" \
    cmp "$work/strong.lp" "$work/again.lp"
ok "the start, too" cmp "$work/start.sol" "$work/again.sol"
exits "the start is a schedule" 0 moirai-check --graph "$inception" \
    "$work/start.sol"
ok "there are rows of segments" grep -q '^ *segment_0:' "$work/strong.lp"
exits "as MPS" 0 moirai-emit -q --fusion none --strengthen 30 "$inception" \
    -o "$work/strong.mps"
exits "to be extended" 0 moirai-emit -q --fusion none --strengthen 30 \
    --slack 2 "$inception" -o "$work/open.lp" --map "$work/open.csv"
ok "with columns of segments" grep -q ',continuous,segment,' "$work/open.csv"
exits "and no search" 0 moirai-emit -q --fusion none --strengthen 0 "$inception" \
    -o "$work/again.lp"
ok "is no other model" cmp "$work/plain.lp" "$work/again.lp"

if has_solver highs; then
    solve "the plain one is solved" --solver highs --graph "$inception" \
        "$work/plain.lp"
    plain=$found
    is "it is optimal" "${plain%% *}" optimal
    for model in strong.lp strong.mps open.lp; do
        solve "$model is solved" --solver highs --graph "$inception" \
            "$work/$model"
        is "$model has the same optimum" "$found" "$plain"
    done
    solve "the start is taken" --solver highs --graph "$inception" \
        --start "$work/start.sol" "$work/strong.lp"
    is "and optimal" "$found" "$plain"
else
    skip "the same optimum" "there is no HiGHS"
fi

# by default

exits "a model by default" 0 moirai-emit "$inception" -o "$work/default.lp" \
    --map "$work/default.csv"
ok "one line about the proof" grep -q 'optimal, proven by search' "$work/err"
ok "a bound in its comments" grep -q '^.* proven: no schedule is shorter' \
    "$work/default.lp"
ok "an incumbent" grep -q '^k,.*,known,' "$work/default.csv"
exits "the same again" 0 moirai-emit -q "$inception" -o "$work/again.lp"
ok "the same bytes" cmp "$work/default.lp" "$work/again.lp"
not_ok_k=$(moirai-emit -q --slack 1.5 "$inception" | grep -c '^ known_')
is "none for rows of one's own" "$not_ok_k" 0
ok "nor in a plain model" sh -c "! grep -q ' k\\b' '$work/plain.lp'"

# A solver's program alone, without a start: raw NAME MODEL SOLUTION.
raw()
{
    "$MOIRAI_PYTHON" - "$@" <<'EOF'
import sys
name, model, solution = sys.argv[1:]
if name == "highs":
    import highspy
    h = highspy.Highs()
    for option in (("threads", 1), ("time_limit", 300.0), ("output_flag", False)):
        h.setOptionValue(*option)
    h.readModel(model)
    h.run()
    h.writeSolution(solution, 0)
    print(h.modelStatusToString(h.getModelStatus()).lower())
else:
    import pyscipopt
    m = pyscipopt.Model()
    m.hideOutput()
    m.readProblem(model)
    m.setParam("limits/time", 300)
    m.optimize()
    m.writeBestSol(solution)
    print(m.getStatus())
EOF
}

# Each raw solver must prove the optimum of a default model.
raw_proof()
{
    graph=$1
    shift
    exits "$(basename "$graph"): a model" 0 moirai-emit -q "$@" "$graph" \
        -o "$work/raw.lp"
    for solver in highs:highspy scip:pyscipopt; do
        if ! "${MOIRAI_PYTHON:-false}" -c "import ${solver#*:}" 2>"$work/err"
        then
            skip "${solver#*:} alone" "it is not installed"
            continue
        fi
        is "${solver#*:} alone proves it" \
            "$(raw "${solver%:*}" "$work/raw.lp" "$work/raw.sol" | tail -n 1)" \
            optimal
        exits "and is right" 0 moirai-check --json --graph "$graph" "$@" \
            "$work/raw.sol"
    done
}

raw_proof "$inception"
# SCIP alone takes as long for GoogLeNet as all that comes before.
for graph in authors/example-1 $(! in_ci || echo authors/GoogLeNet); do
    if [ -e "$data/$graph.graphml" ]; then
        raw_proof "$data/$graph.graphml"
    else
        skip "$graph" "it is not there"
    fi
done
if [ -n "${MOIRAI_LONG-}" ]; then
    for graph in "$data"/openvino/[bgmrs]*.xml "$data"/runnable/*/model.xml; do
        case $graph in *'*'* | */small_trunk/*) continue ;; esac
        raw_proof "$graph" -c inter-server
    done
fi

# no placement

sed 's/memory_gib="[0-9]*"/memory_bytes="100000"/' \
    "$top_srcdir/examples/inception.cluster.xml" >"$work/tiny.xml"
for command in moirai-emit moirai moirai-place; do
    exits "$command: no placement" 3 $command -q -c "$work/tiny.xml" \
        "$inception"
done

# errors

for formulation in paper getf sct pesto; do
    complains "$formulation has no such rows" 2 "--strengthen" \
        moirai-emit --strengthen 1 --formulation $formulation "$inception"
done
complains "time is not negative" 2 "--strengthen" \
    moirai-emit --strengthen -1 "$inception"

# the authors' GoogLeNet

# Emits it in a regime; each solver must confirm the optimum, given in us.
confirm()
{
    optimum=$1
    shift
    exits "GoogLeNet $*" 0 moirai-emit -q --strengthen 60 "$@" "$googlenet" \
        -o "$work/g.lp" --start "$work/g.sol"
    for solver in highs scip; do
        if ! has_solver $solver; then
            skip "$solver confirms $optimum us" "it is not installed"
            continue
        fi
        solve "$solver ends in time: $*" --solver $solver \
            --graph "$googlenet" --start "$work/g.sol" "$work/g.lp"
        is "$solver confirms: $*" "$found" "optimal $optimum"
    done
}

googlenet=$data/authors/GoogLeNet.graphml
if [ -e "$googlenet" ]; then
    ! in_ci || confirm 1241.32 --congestion none
    confirm 1271.11 --congestion port --tensors once
else
    skip "the authors' GoogLeNet" "it is not there"
fi

done_testing
