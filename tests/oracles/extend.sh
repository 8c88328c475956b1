#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: dist no-sanitizers
# The examples that add rows to a model: read, extended and solved with PuLP
# and with Pyomo; the solution keeps its identity columns.
. "${top_srcdir:=.}/tests/support/tap.sh"

python=${MOIRAI_PYTHON:-python3}
for package in highspy pulp pyomo; do
    "$python" -c "import $package" 2>/dev/null ||
        skip_all "$python has no $package"
done

# The network's best placement has both ops on one device.
one=b1_1x1
other=b1_relu

exits "a model to extend" 0 moirai-emit -q --slack 2 --map "$work/map.csv" \
    -o "$work/model.mps" "$top_srcdir/examples/inception.graphml"
for tool in pulp pyomo; do
    exits "$tool extends and solves it" 0 \
        "$python" "$top_srcdir/examples/extend_$tool.py" "$work/model.mps" \
        "$work/map.csv" $one $other "$work/$tool.sol"
    ok "$tool: the solution is one" "$python" "$top_srcdir/tests/oracles/extend.py" \
        "$work/model.mps" "$work/map.csv" $one $other "$work/$tool.sol"
    exits "$tool: an op that is not there" 1 \
        "$python" "$top_srcdir/examples/extend_$tool.py" "$work/model.mps" \
        "$work/map.csv" $one nowhere "$work/none.sol"
    ok "$tool: is named" grep -q "no op 'nowhere'" "$work/err"
done

done_testing
