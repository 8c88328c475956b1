#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests of moirai-info --instance: its numbers are those of the graph and the
# cluster, the cluster is found by the documented rules, and missing numbers
# are reported.
. "${top_srcdir:=.}/tests/support/tap.sh"

data=${MOIRAI_DATA:-$top_srcdir/../shared/data}
python=${MOIRAI_PYTHON:-python3}
"$python" -c 'import json, xml.etree.ElementTree' 2>/dev/null ||
    skip_all "$python is no Python"

unset MOIRAI_CLUSTER

# Prints the value of one key of the last --json output.
value()
{
    sed -n "s/^  \"$1\": \(.*\),\$/\1/p" "$work/out"
}

is_json()
{
    "$python" -m json.tool "$work/out"
}

# Compares the instance of a graph with one that an oracle computes from the
# graph and its cluster.
agrees()
{
    "$python" "$top_srcdir/tests/oracles/instance_oracle.py" "$1" \
        "${1%.graphml}.cluster.xml" "$work/out"
}

for file in "$data"/authors/example-1.graphml \
    "$data"/authors/GoogLeNet.graphml "$data"/authors/inceptionv4.graphml \
    "$data"/authors/transformer.graphml "$top_srcdir"/examples/inception.graphml
do
    name=$(basename "$file")
    if [ -e "$file" ]; then
        exits "$name: an instance" 0 \
            moirai-info -q --instance --json --fusion none "$file"
        ok "$name: the numbers are those of the file" agrees "$file"
    else
        skip "$name" "there is no $file"
    fi
done

# Costs of networks without times on the paper's devices.
for file in "$data"/openvino/*.xml "$data"/runnable/*/model.xml; do
    if [ -e "$file" ]; then
        name=${file#"$data"/}
        exits "$name: an instance" 0 \
            moirai-info -q --instance --json -c intra-server "$file"
        ok "$name: is valid JSON" is_json
    else
        skip "$file" "it is not there"
    fi
done

mkdir "$work/dir"
graph=$work/dir/two.graphml
cat >"$graph" <<'END'
<graphml>
  <key id="o" for="node" attr.name="op"/>
  <key id="f" for="node" attr.name="flops"/>
  <key id="y" for="node" attr.name="bytes"/>
  <key id="t" for="node" attr.name="time_us.rtx2080ti"/>
  <key id="p" for="node" attr.name="pin"/>
  <key id="g" for="node" attr.name="colocate"/>
  <key id="b" for="edge" attr.name="bytes"/>
  <graph edgedefault="directed">
    <node id='a "b"'><data key="o">ReLU</data><data key="f">1e6</data>
      <data key="y">8e6</data><data key="t">40.5</data></node>
    <node id="c"><data key="o">ReLU</data><data key="f">1e6</data>
      <data key="y">8e6</data><data key="t">39.25</data>
      <data key="p">A</data><data key="g">x</data></node>
    <edge source='a "b"' target="c"><data key="b">4000</data></edge>
  </graph>
</graphml>
END

exits "as text" 0 moirai-info -q --instance "$graph"
cp "$work/out" "$work/text"
for line in "graph       $graph" 'cluster     inter-server' 'ops         2' \
    'flows       1' 'tensors     1' 'pinned      1 ops' \
    'colocated   1 ops in 1 groups' \
    'A                   79.8 us      11.0 GiB' \
    'A            given                           2       79.8 us   unknown' \
    'B            predicted: memory               2       80.7 us       8 %'
do
    ok "it prints: $line" grep -qxF -e "$line" "$work/text"
done

exits "as JSON" 0 moirai-info -q --instance --json "$graph"
ok "which is valid" is_json
is "keys stand in this order" \
    "$(sed -n 's/^  "\([a-z_]*\)":.*/\1/p' "$work/out" | tr '\n' ' ')" \
    "graph cluster digest graph_digest cluster_digest ops flows tensors\
 memory_bytes devices transfer_us instance "
is "ops" "$(value ops)" 2
is "the cluster's name" "$(value cluster)" '"inter-server"'
ok "names are quoted" grep -qF -e '{"op": "a \"b\"", ' "$work/out"
ok "pins and groups are reported" grep -qF -e '"pin": "A", "group": 0,' "$work/out"

# The rules by which the cluster is found, and that each is reported.
exits "without a cluster" 0 moirai-info --instance "$graph"
is "the default is reported in one line" "$(cat "$work/err")" \
    "moirai-info: the cluster is the built-in inter-server, since none was given"
ok "and taken" cmp "$work/text" "$work/out"
exits "-q prints nothing" 0 moirai-info -q --instance "$graph"
is "of the cluster" "$(cat "$work/err")" ""

cluster='<cluster><device id="A" gflops="1000" memory_bandwidth_gbs="100"
    launch_us="5"/></cluster>'
echo "$cluster" >"$work/one.xml"
one_device()
{
    [ "$(grep -c '^    {"id": ' "$work/out")" -eq 1 ]
}

for name in inter-server intra-server; do
    exits "-c $name" 0 moirai-info --instance --json -c "$name" "$graph"
    is "-c $name is taken" "$(value cluster)" "\"$name\""
    is "-c $name prints no message" "$(cat "$work/err")" ""
done
exits "-c FILE" 0 moirai-info --instance --json -c "$work/one.xml" "$graph"
ok "it is taken" one_device
is "its name is the one given" "$(value cluster)" "\"$work/one.xml\""

exits "MOIRAI_CLUSTER" 0 env MOIRAI_CLUSTER="$work/one.xml" \
    moirai-info --instance --json "$graph"
ok "it is taken" one_device
ok "and reported" grep -q 'MOIRAI_CLUSTER' "$work/err"

cp "$work/one.xml" "$work/dir/two.cluster.xml"
exits "a cluster beside the graph" 0 \
    env MOIRAI_CLUSTER=inter-server moirai-info --instance --json "$graph"
ok "comes before MOIRAI_CLUSTER" one_device
is "and is reported in one line" "$(wc -l <"$work/err")" 1
exits "-c comes before both" 0 \
    moirai-info --instance --json -c inter-server "$graph"
is "with all its devices" "$(grep -c '^    {"id": ' "$work/out")" 4
rm "$work/dir/two.cluster.xml"

moirai-info --instance -c "$work/one.xml" - <"$graph" >"$work/out" 2>&1
ok "a graph from standard input" grep -qx 'ops         2' "$work/out"
moirai-info -q --instance - <"$graph" >"$work/out"
ok "with the default cluster" grep -qx 'cluster     inter-server' "$work/out"
moirai-info --instance --json -c - "$graph" <"$work/one.xml" >"$work/out"
ok "a cluster from standard input" one_device

# Cost model for ops without a measured time, in every mode.
time_on_b()
{
    sed -n 's/.*"op": "c".*"time_us": \[[^,]*, \([^,]*\),.*/\1/p' "$work/out"
}

exits "--cost roofline" 0 \
    moirai-info -q --instance --json --cost roofline "$graph"
roofline=$(time_on_b)
exits "is the default" 0 moirai-info -q --instance --json "$graph"
is "with the same times" "$(time_on_b)" "$roofline"
exits "--cost wave:rtx2080ti" 0 \
    moirai-info -q --instance --json --cost wave:rtx2080ti "$graph"
ok "has others" test "$(time_on_b)" != "$roofline"
exits "--cost wave:A" 0 moirai-info -q --instance --json --cost wave:A "$graph"
ok "A is an rtx2080ti" test "$(time_on_b)" != "$roofline"

cat >"$work/profile.xml" <<'END'
<profile>
  <link from="A" to="B" gbps="8" latency_us="1"/>
</profile>
END
exits "-p PROFILE" 0 \
    moirai-info -q --instance --json -p "$work/profile.xml" "$graph"
is "its links are taken" \
    "$(sed -n '/"transfer_us"/{n;s/^ *\[0, \([^,]*\),.*/\1/p;}' "$work/out")" 5
ok "it has a digest" grep -q '^  "profile_digest": "[0-9a-f]*",$' "$work/out"

# All missing numbers are reported before the error.
cat >"$work/poor.graphml" <<'END'
<graphml><graph edgedefault="directed">
  <node id="a"/>
  <node id="b"/>
  <edge source="a" target="b"/>
</graph></graphml>
END
for quiet in "" -q; do
    # shellcheck disable=SC2086
    exits "ops without times $quiet" 1 \
        moirai-info $quiet --instance -c inter-server "$work/poor.graphml"
    is "all are reported $quiet" "$(wc -l <"$work/err")" 3
    for place in "2: 2 ops have no time on A, B, C, D: 'a' (no type), 'b' (no" \
        "4: edge 'a' -> 'b' has no size"; do
        ok "with line and name: $place" \
            grep -qF -e "moirai-info: $work/poor.graphml:$place" "$work/err"
    done
    ok "the last line has their number" \
        grep -q '3 ops and edges lack a number' "$work/err"
    is "nothing is printed $quiet" "$(cat "$work/out")" ""
done

# One mistake of the cluster is one line, however many ops it concerns.
cat >"$work/slow.xml" <<'END'
<cluster>
  <device id="a" kind="cpu"/>
  <device id="b" kind="cpu"/>
  <link between="a b" gbps="10"/>
</cluster>
END
exits "the zoo" 0 moirai-zoo gpt3-330m -o "$work/zoo.graphml"
for cost in roofline wave:a; do
    exits "devices without a speed, $cost" 1 moirai-info --instance \
        --fusion none -c "$work/slow.xml" --cost "$cost" "$work/zoo.graphml"
    is "one line, $cost" "$(wc -l <"$work/err")" 1
    cp "$work/err" "$work/err.$cost"
done
ok "with the line of the device" grep -q \
    "$work/slow.xml:2: devices without a speed: a, b: 4[0-9]* ops have" \
    "$work/err.roofline"
ok "what is scaled from is named" grep -q \
    "ops have no time on a, from which --cost wave scales" "$work/err.wave:a"

echo '<efficiency><factors class="matmul" launch="1e300"/></efficiency>' \
    >"$work/huge.xml"
complains "a factor that is too large" 1 \
    "by --cost roofline:$work/huge.xml; times must lie" moirai-info --instance \
    -c inter-server --cost "roofline:$work/huge.xml" "$work/zoo.graphml"

sed 's/"p">A/"p">Z/' "$graph" >"$work/pinned.graphml"
complains "a pin to nowhere" 1 "$work/pinned.graphml:12: op 'c' is pinned" \
    moirai-info --instance -c inter-server "$work/pinned.graphml"
echo '<profile><op device="x" signature="y" median_us="1"/></profile>' \
    >"$work/other.xml"
complains "another machine's profile" 1 "$work/other.xml" \
    moirai-info --instance -c inter-server -p "$work/other.xml" "$graph"
echo '<cluster><device id="A" model="t4"/><device id="B" model="p4"/></cluster>' \
    >"$work/parts.xml"
complains "a cluster in parts" 1 "$work/parts.xml: cluster is not connected" \
    moirai-info --instance -c "$work/parts.xml" "$graph"

complains "-c without --instance" 2 "--instance" \
    moirai-info -c inter-server "$graph"
complains "-p without --instance" 2 "--instance" \
    moirai-info -p "$work/profile.xml" "$graph"
complains "--cost without --instance" 2 "--instance" \
    moirai-info --cost roofline "$graph"
complains "--dot with --instance" 2 "--dot" \
    moirai-info --dot --instance "$graph"
complains "one standard input for two" 2 "standard input" \
    moirai-info --instance -c - -
complains "a cost model that is none" 2 "--cost 'guess'" \
    moirai-info --instance -c inter-server --cost guess "$graph"
complains "a cluster that is none" 1 "inter-server" \
    moirai-info --instance -c nowhere "$graph"
complains "a profile that is not there" 1 "$work/none.xml" \
    moirai-info --instance -c inter-server -p "$work/none.xml" "$graph"

if [ -w /dev/full ]; then
    for form in "" --json; do
        # shellcheck disable=SC2016
        complains "a full disk $form" 1 "" sh -c \
            'moirai-info -q --instance $1 "$0" >/dev/full' "$graph" "$form"
    done
else
    skip "a full disk" "there is no /dev/full"
fi

done_testing
