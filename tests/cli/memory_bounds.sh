#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers
# Tests of bounds where memory binds, as moirai-place and moirai-check report
# them, without a solver.
. "${top_srcdir:=.}/tests/support/tap.sh"

unset MOIRAI_CLUSTER
cd "$work" || exit 99

# Four layers of five equal branches between two ops; all memory is in the
# branches, and A has room for half of it.
awk 'BEGIN {
    print "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">"
    split("A B", device)
    for (k = 1; k <= 2; k++)
        printf "<key id=\"%s\" for=\"node\" attr.name=\"time_us.%s\" " \
            "attr.type=\"double\"/>\n", device[k], device[k]
    print "<key id=\"m\" for=\"node\" attr.name=\"memory\" " \
        "attr.type=\"double\"/>"
    print "<key id=\"b\" for=\"edge\" attr.name=\"bytes\" " \
        "attr.type=\"double\"/>"
    print "<graph edgedefault=\"directed\">"
    for (l = 0; l < 5; l++)
        printf "<node id=\"cut%d\"><data key=\"A\">1</data>" \
            "<data key=\"B\">1</data><data key=\"m\">0</data></node>\n", l
    for (l = 0; l < 4; l++)
        for (i = 0; i < 5; i++) {
            printf "<node id=\"op%d_%d\"><data key=\"A\">10</data>" \
                "<data key=\"B\">80</data><data key=\"m\">100000</data>" \
                "</node>\n", l, i
            printf "<edge source=\"cut%d\" target=\"op%d_%d\">" \
                "<data key=\"b\">1000</data></edge>\n", l, l, i
            printf "<edge source=\"op%d_%d\" target=\"cut%d\">" \
                "<data key=\"b\">1000</data></edge>\n", l, i, l + 1
        }
    print "</graph></graphml>"
}' >forks.graphml
cat >forks.cluster.xml <<'END'
<cluster>
<device id="A" memory_bytes="1050000"/><device id="B" memory_bytes="10000000"/>
<link between="A B" gbps="8"/>
</cluster>
END

value()
{
    sed -n "s/^  \"$1\": \"\{0,1\}\([^\",]*\)\"\{0,1\},*\$/\1/p" "$work/out"
}

# 10 branches on B take 10 * 80 us there.
for memory in static live; do
    exits "a placement, memory $memory" 0 moirai-place -q --assist none \
        --rounds 2 --memory $memory -c forks.cluster.xml -o forks.sol \
        forks.graphml
    exits "its check" 0 moirai-check --json forks.sol
    ok "the bound counts memory" awk "BEGIN { exit !($(value bound_us) > 700) }"
    ok "and is no more than the makespan" \
        awk "BEGIN { exit !($(value bound_us) <= $(value makespan_us)) }"
done
exits "a model" 0 moirai-emit -q -c forks.cluster.xml -o forks.lp forks.graphml
ok "has rows with prices" grep -q '^ *priced_3:' forks.lp
exits "without limits" 0 moirai-place -q --assist none --rounds 2 \
    --memory none -c forks.cluster.xml -o forks.sol forks.graphml
exits "its check" 0 moirai-check --json forks.sol
ok "the bound is that of A" awk "BEGIN { exit !($(value bound_us) < 220) }"

done_testing
