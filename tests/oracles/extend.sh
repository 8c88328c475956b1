#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers
# The examples that add rows to a model: read, extended and solved with PuLP,
# Pyomo and highspy, by the commands at their heads; the solution keeps its
# identity columns.
. "${top_srcdir:=.}/tests/support/tap.sh"

python=${MOIRAI_PYTHON:-python3}
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
for package in highspy pulp pyomo; do
    "$python" -c "import $package" 2>/dev/null ||
        skip_all "$python has no $package"
done

# The network's best placement has both ops on one device.
one=b1_1x1
other=b1_relu

graph=$top_srcdir/examples/inception.graphml
exits "a model without room" 0 moirai-emit -q --fusion none \
    -o "$work/tight.mps" "$graph"
exits "a model to extend" 0 moirai-emit -q --fusion none --slack 2 --unit us \
    "$graph" \
    -o "$work/model.mps" --map "$work/map.csv" --start "$work/start.sol"
ok "its unit" grep -qx '\* time unit: 1 us' "$work/model.mps"
for tool in pulp pyomo highspy; do
    ok "$tool: the head has the command" grep -q \
        'moirai-emit --slack 2 --unit us graph.graphml -o model.mps' \
        "$top_srcdir/examples/extend_$tool.py"
    # Pyomo takes a second to start.
    if in_ci || [ $tool != pyomo ]; then
        complains "$tool: without arguments" 2 "usage: extend_$tool.py MODEL" \
            "$python" "$top_srcdir/examples/extend_$tool.py"
        complains "$tool: a model without room" 1 'emit it with --slack 2' \
            "$python" "$top_srcdir/examples/extend_$tool.py" \
            "$work/tight.mps" "$work/map.csv" "$work/start.sol" $one $other \
            "$work/none.sol"
        exits "$tool: an op that is not there" 1 \
            "$python" "$top_srcdir/examples/extend_$tool.py" \
            "$work/model.mps" "$work/map.csv" "$work/start.sol" $one nowhere \
            "$work/none.sol"
        ok "$tool: is named" grep -q "no op 'nowhere'" "$work/err"
    fi
    exits "$tool extends and solves it" 0 \
        "$python" "$top_srcdir/examples/extend_$tool.py" "$work/model.mps" \
        "$work/map.csv" "$work/start.sol" $one $other "$work/$tool.sol"
    exits "$tool: it is valid" 0 env MOIRAI_PATH="$top_srcdir/examples" \
        moirai-check "$work/$tool.sol"
done
ok "solutions of the model" "$python" "$top_srcdir/tests/oracles/extend.py" \
    "$work/model.mps" "$work/map.csv" $one $other "$work/pulp.sol" \
    "$work/pyomo.sol" "$work/highspy.sol"

done_testing
