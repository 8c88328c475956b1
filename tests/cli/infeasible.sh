#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers
# Tests of graphs that fit no cluster: exit status 3 from every command that
# needs a placement, with the amounts, whichever step detects it.
. "${top_srcdir:=.}/tests/support/tap.sh"

cd "$work" || exit 99

# Prints a graph of three ops, each of this many bytes.
graph_of()
{
    cat <<END
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="w" for="node" attr.name="weight_bytes" attr.type="double"/>
  <key id="a" for="node" attr.name="time_us.A" attr.type="double"/>
  <key id="b" for="node" attr.name="time_us.B" attr.type="double"/>
  <key id="size" for="edge" attr.name="bytes" attr.type="double"/>
  <graph edgedefault="directed">
END
    for op in x y z; do
        echo "    <node id=\"$op\"><data key=\"w\">$1</data>" \
            '<data key="a">10</data><data key="b">12</data></node>'
    done
    cat <<END
    <edge source="x" target="y"><data key="size">100</data></edge>
    <edge source="x" target="z"><data key="size">100</data></edge>
  </graph>
</graphml>
END
}

# Two devices of this many bytes.
cluster_of()
{
    echo '<cluster name="two"><device id="A" memory_bytes="'"$1"'"/>' \
        '<device id="B" memory_bytes="'"$1"'"/>' \
        '<link between="A B" gbps="1" latency_us="1"/></cluster>'
}

graph_of 600 >g.graphml
cluster_of 2000 >roomy.xml
cluster_of 1000 >packing.xml # no two ops fit one device
cluster_of 800 >total.xml    # 1800 bytes do not fit 1600
cluster_of 500 >op.xml       # no op fits
printf 'x A\ny A\nz A\n' >placement.txt
exits "with room there is a solution" 0 moirai-place -q -c roomy.xml -o roomy.sol g.graphml

# Command, cluster, text of the reason.
while IFS='|' read -r command cluster reason; do
    # shellcheck disable=SC2086
    exits "$command, $cluster" 3 $command -c "$cluster.xml"
    is "says why, $cluster, once" \
        "$(cat out err | grep -cF -e "$reason")" 1
done <<END
moirai --time 20 g.graphml|op|op 'x' needs 600 bytes and device A, the largest, has 500
moirai --time 20 g.graphml|total|the ops need 1800 bytes of memory, all devices together have 1600
moirai --time 20 g.graphml|packing|no placement fits into memory: 'x', 'y', 'z' (600 bytes or more each, 1800 together) cannot be divided among devices with 1000, 1000 bytes
moirai-emit g.graphml|op|op 'x' needs 600 bytes and device A, the largest, has 500
moirai-emit g.graphml|total|the ops need 1800 bytes of memory, all devices together have 1600
moirai-emit g.graphml|packing|no placement fits into memory: 'x', 'y', 'z' (600 bytes or more each, 1800 together) cannot be divided among devices with 1000, 1000 bytes
moirai-place --time 5 g.graphml|op|op 'x' needs 600 bytes and device A, the largest, has 500
moirai-place --time 5 g.graphml|total|the ops need 1800 bytes of memory, all devices together have 1600
moirai-place --time 5 g.graphml|packing|no placement fits into memory: 'x', 'y', 'z' (600 bytes or more each, 1800 together) cannot be divided among devices with 1000, 1000 bytes
moirai-info --instance g.graphml|op|op 'x' needs 600 bytes and device A, the largest, has 500
moirai-check -q -g g.graphml placement.txt|op|op 'x' needs 600 bytes and device A, the largest, has 500
moirai-exec --dry-run -g g.graphml placement.txt|op|op 'x' needs 600 bytes and device A, the largest, has 500
END

# Found before a model is written, JSON has the reason, too.
exits "moirai --json" 3 moirai --json -c total.xml g.graphml
ok "has a status and a reason" "${MOIRAI_PYTHON:-python3}" -c '
import json, sys
r = json.load(open("out"))
sys.exit(r["status"] != "infeasible" or "1800 bytes" not in r["why"])'

# moirai-place: no bound where there is no placement, and a JSON array whichever
# step detects it.
sed 's|<device id="B" [^>]*>|<device id="B" memory_bytes="9000"/>|' \
    packing.xml >pinned.xml
sed -e 's|  <graph |  <key id="p" for="node" attr.name="pin"/>\n&|' \
    -e 's|</data></node>|</data><data key="p">A</data></node>|' \
    g.graphml >pinned.graphml
cp g.graphml op.graphml
cp g.graphml total.graphml
cp g.graphml packing.graphml
for kind in pinned total packing; do
    exits "moirai-place, $kind" 3 \
        moirai-place -q --method moirai,heft -c $kind.xml $kind.graphml
    is "no bound, $kind" "$(grep -c 'takes less than' out)" 0
    is "but the proof, $kind" \
        "$(grep -c '^proven infeasible: no placement fits$' out)" 1
done
for kind in pinned total packing op; do
    exits "moirai-place --json, $kind" 3 \
        moirai-place -q --json --method moirai,heft -c $kind.xml $kind.graphml
    ok "a reason and no bound, $kind" "${MOIRAI_PYTHON:-python3}" -c '
import json, sys
rows = {r["method"]: r for r in json.load(open("out"))}
ok = "bytes" in rows["moirai"]["why"] and len(rows) == 2
ok = ok and all(r.get("bound_us") is None for r in rows.values())
sys.exit(not ok or any("gap" in r for r in rows.values()))'
done

# Where the time ends before a placement is found, nothing is proven: memory that
# every byte is needed of, and a network that takes longer to read than there is
# time.
moirai-zoo -q gpt3-330m -o gpt.graphml
bytes=$(moirai-info --instance --json -c inter-server gpt.graphml |
    sed -n 's/^  "memory_bytes": \([0-9]*\),/\1/p')
cat >gpt.xml <<END
<cluster>
<device id="A" model="t4" memory_bytes="$((bytes * 6 / 10))"/>
<device id="B" model="p4" memory_bytes="$((bytes - bytes * 6 / 10))"/>
<link from="A" to="B" gbps="40" latency_us="10"/>
<link from="B" to="A" gbps="40" latency_us="10"/>
</cluster>
END
for rule in "--memory static" "--memory live" "--objective period" \
    "--objective period --memory live"; do
    exits "too little time, $rule" 3 \
        moirai-place -q --json --time 0.001 $rule -c gpt.xml gpt.graphml
    ok "is the reason" grep -q '"ended_by": "time limit"' out
    is "nothing is proven" "$(grep -c '"bound_us": null' out)" 0
done
exits "and in words" 3 moirai-place -q --time 0.001 -c gpt.xml gpt.graphml
ok "both" grep -q \
    'fits into memory; the time limit ended the search, and there may be one$' \
    out

# A placement that does not fit is invalid, and has no gap.
exits "a placement that does not fit" 4 \
    moirai-check -g g.graphml -c packing.xml placement.txt
ok "the constraint is named" grep -q '(1d) device A needs 1800 bytes' out
is "without bound and gap" "$(grep -c 'bound\|gap' out)" 0
exits "as JSON" 4 moirai-check --json -g g.graphml -c packing.xml placement.txt
is "neither" "$(grep -c '"bound_us"\|"gap"' out)" 0

# A model that has no solution.
cat >never.lp <<END
Minimize
 obj: w
Subject To
 a: w >= 2
 b: w <= 1
End
END
if moirai-solve --list | grep -q '^[a-z]* *[0-9]'; then
    exits "a solver's proof" 3 moirai-solve never.lp
    is "the status is printed once" "$(grep -o infeasible out | wc -l)" 1
else
    skip "a solver's proof" "no solver is installed"
fi

done_testing
