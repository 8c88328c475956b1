#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests of moirai-info: counts of real networks, its three output forms, and
# errors for files that are not graphs.
. "${top_srcdir:=.}/tests/support/tap.sh"

data=${MOIRAI_DATA:-$top_srcdir/../shared/data}

# Prints the value of one key of the last --json output.
value()
{
    sed -n "s/^  \"$1\": \(.*\),\$/\1/p" "$work/out"
}

# Returns whether the last output is JSON, as far as a parser is installed.
is_json()
{
    ! command -v python3 >/dev/null || python3 -m json.tool "$work/out"
}

# Three branches that join, with every kind of element that the reader accepts.
cat >"$work/small.graphml" <<'END'
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="o" for="node" attr.name="op" attr.type="string"/>
  <key id="f" for="node" attr.name="flops" attr.type="double"/>
  <key id="m" for="node" attr.name="memory" attr.type="double"/>
  <key id="b" for="edge" attr.name="bytes" attr.type="double"/>
  <graph id="small" edgedefault="directed">
    <node id="in"><data key="o">Parameter</data></node>
    <node id="left"><data key="o">Weird</data><data key="f">5000</data></node>
    <node id="right"><data key="m">2048</data></node>
    <node id='a "b" \'><data key="o">Weird</data><data key="f">70</data></node>
    <node id="out"><data key="o">Add</data><data key="f">1</data></node>
    <edge source="in" target="left"><data key="b">1536</data></edge>
    <edge source="in" target="right"/>
    <edge source="in" target='a "b" \'/>
    <edge source="left" target="out"/>
    <edge source="right" target="out"/>
    <edge source='a "b" \' target="out"/>
  </graph>
</graphml>
END

exits "a small graph" 0 moirai-info "$work/small.graphml"
cp "$work/out" "$work/text"
for line in 'format      graphml' 'ops         5' 'edges       6' \
    'sources     1' 'sinks       1' 'depth       3' 'width       3' \
    'clean cuts  2, at most 3 ops between' 'memory      2.00 KiB' \
    'heaviest ops by flops' '  5.00 kFLOP  Weird                left' \
    '           2  Weird'; do
    ok "it prints: $line" grep -qxF -e "$line" "$work/text"
done

exits "as JSON" 0 moirai-info --json "$work/small.graphml"
ok "which is valid" is_json
is "the name is the one given" "$(value graph)" "\"$work/small.graphml\""
is "ops" "$(value ops)" 5
is "edges" "$(value edges)" 6
is "clean cuts" "$(value clean_cuts)" 2
is "the largest segment" "$(value largest_segment)" 3
is "memory" "$(value memory_bytes)" 2048
is "heaviest by" "$(value heaviest_by)" '"flops"'
ok "ops without a type are counted" grep -qx '    "": 1,*' "$work/out"
is "keys stand in this order" \
    "$(sed -n 's/^  "\([a-z_]*\)":.*/\1/p' "$work/out" | tr '\n' ' ')" \
    "graph format digest ops constants edges tensors sources sinks components\
 depth width clean_cuts largest_segment weight_bytes memory_bytes\
 tensor_bytes flops bytes ops_without_flops heaviest_by heaviest operators "

exits "as a digraph" 0 moirai-info --dot "$work/small.graphml"
is "it is called what the graph is" "$(head -n 1 "$work/out")" \
    'digraph "small" {'
ok "names are quoted" grep -qxF -e '  "a \"b\" \\" -> "out";' "$work/out"
ok "sizes are on the edges" \
    grep -qxF -e '  "in" -> "left" [label="1.50 KiB"];' "$work/out"
is "clean cuts are filled" "$(grep -c 'style=filled' "$work/out")" 2
if command -v dot >/dev/null; then
    ok "Graphviz reads it" dot -Tplain -o /dev/null "$work/out"
else
    skip "Graphviz reads it" "dot is not installed"
fi

cp "$work/small.graphml" "$work/misnamed.txt"
exits "the name of a file is irrelevant" 0 moirai-info "$work/misnamed.txt"
is "standard input" "$(moirai-info --dot - <"$work/small.graphml")" \
    "$(moirai-info --dot "$work/small.graphml")"
exits "a file as output" 0 \
    moirai-info -o "$work/text.txt" "$work/small.graphml"
ok "has the same text" cmp "$work/text" "$work/text.txt"

echo '<graphml><graph/></graphml>' >"$work/empty.graphml"
for form in "" --json --dot; do
    # shellcheck disable=SC2086
    exits "an empty graph $form" 0 moirai-info $form "$work/empty.graphml"
done
exits "an empty graph as JSON" 0 moirai-info --json "$work/empty.graphml"
ok "is valid" is_json

cat >"$work/huge.graphml" <<'END'
<graphml><key id="f" for="node" attr.name="flops"/>
  <key id="b" for="node" attr.name="bytes"/>
  <key id="m" for="node" attr.name="memory"/>
  <graph>
    <node id="a"><data key="f">1.7e308</data><data key="b">1.7e308</data>
      <data key="m">9e18</data></node>
    <node id="b"><data key="f">1.7e308</data><data key="b">1.7e308</data>
      <data key="m">9e18</data></node>
  </graph>
</graphml>
END
exits "sums beyond all numbers" 0 moirai-info "$work/huge.graphml"
exits "sums beyond all numbers as JSON" 0 \
    moirai-info --json "$work/huge.graphml"
ok "are valid" is_json
is "and unknown" "$(value memory_bytes) $(value flops)" "null null"

# The instances published by the authors of the paper.
while read -r name ops cuts; do
    file=$data/authors/$name.graphml
    if [ -e "$file" ]; then
        exits "$name loads" 0 moirai-info --json "$file"
        is "$name has $ops ops" "$(value ops)" "$ops"
        is "$name has $cuts clean cuts" "$(value clean_cuts)" "$cuts"
        is "$name is weighed by time" "$(value heaviest_by)" '"time_us"'
    else
        skip "$name" "there is no $file"
    fi
done <<END
example-1 14 2
GoogLeNet 141 24
inceptionv4 491 29
transformer 1374 6
END

# Every other network: ops with work, and no unknown type except the listed
# ones.
for file in "$data"/openvino/*.xml "$data"/runnable/*/model.xml; do
    if [ -e "$file" ]; then
        name=${file#"$data"/}
        exits "$name loads" 0 moirai-info --json "$file"
        ok "$name: is valid JSON" is_json
        is "$name: its format" "$(value format)" '"openvino"'
        is "$name: all work is known" "$(value ops_without_flops)" 0
        ok "$name: there are weights" test "$(value weight_bytes)" -gt 0
    else
        skip "$file" "it is not there"
    fi
done

complains "no operand" 2 "" moirai-info
complains "two operands" 2 "" moirai-info a b
complains "an unknown option" 2 "--nope" moirai-info --nope x
complains "two forms at once" 2 "--json" \
    moirai-info --json --dot "$work/small.graphml"
complains "a missing file" 1 "$work/none.graphml" \
    moirai-info "$work/none.graphml"
complains "a folder" 1 "$work" moirai-info "$work"
complains "an empty file" 1 "/dev/null" moirai-info /dev/null
echo 'once upon a time' >"$work/story"
complains "a text" 1 "$work/story:1" moirai-info "$work/story"
echo '<html/>' >"$work/page"
complains "another format" 1 "$work/page:1" moirai-info "$work/page"
head -n 9 "$work/small.graphml" >"$work/cut"
complains "half a file" 1 "$work/cut:" moirai-info "$work/cut"
complains "a shape for a graph that has them" 2 "--shape goes with" \
    moirai-info --shape x=1 "$work/small.graphml"
complains "a folder to write to that is not there" 1 "$work/none/x" \
    moirai-info -o "$work/none/x" "$work/small.graphml"

if [ -w /dev/full ]; then
    complains "a full disk" 1 "" \
        sh -c 'moirai-info "$0" >/dev/full' "$work/small.graphml"
else
    skip "a full disk" "there is no /dev/full"
fi
complains "a closed standard output" 1 "" \
    sh -c 'moirai-info "$0" >&-' "$work/small.graphml"

exits "help" 0 moirai-info --help
ok "help is on standard output" grep -q -e '--json' "$work/out"
exits "version" 0 moirai-info --version
ok "version names the command" grep -q moirai-info "$work/out"
for shell in bash zsh fish; do
    exits "completion for $shell" 0 moirai-info --completion "$shell"
    ok "it lists the options" grep -q json "$work/out"
done

exits "-v reports each step" 0 moirai-info -v "$work/small.graphml"
ok "on stderr" grep -q '^moirai-info: read 5 ops and 6 edges' "$work/err"
exits "-q wins over it" 0 moirai-info -q -v "$work/small.graphml"
is "and nothing is printed" "$(cat "$work/err")" ""

# solutions

for file in "$top_srcdir"/tests/solutions/*-feasible* \
    "$top_srcdir"/tests/solutions/*-infeasible*; do
    exits "${file##*/}" 0 moirai-info "$file"
    ok "has a layout" grep -q '^layout  *[a-z]' "$work/out"
done
complains "a picture of a solution" 2 "is for graphs" \
    moirai-info --dot "$top_srcdir/tests/solutions/scip-10.0.2-optimal.sol"
complains "a cluster" 1 "the root element is <cluster>" \
    moirai-info "$top_srcdir/examples/inception.cluster.xml"
mkfifo "$work/pipe"
moirai-zoo --layers 1 --hidden 64 --heads 2 >"$work/pipe" &
exits "a graph from a pipe with a name" 0 moirai-info "$work/pipe"
wait

done_testing
