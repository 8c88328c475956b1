#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers
# Tests of moirai-coarsen: removed and fused ops, output forms, and that its
# output is a graph like any other.
. "${top_srcdir:=.}/tests/support/tap.sh"

data=${MOIRAI_DATA:-$top_srcdir/../shared/data}

# Prints the value of one key of the last --json output.
value()
{
    sed -n "s/^  \"$1\": \(.*\),\$/\1/p" "$work/out"
}

is_json()
{
    ! command -v python3 >/dev/null || python3 -m json.tool "$1"
}

# Prints the <data> of one node, under one key, of a graph that was written.
datum()
{
    sed -n "s/.*<node id=\"$2\">.*<data key=\"$3\">\([^<]*\)<.*/\1/p" "$1"
}

# An input, a convolution with a bias that two ops read, a view, a result.
cat >"$work/small.graphml" <<'END'
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="o" for="node" attr.name="op" attr.type="string"/>
  <key id="f" for="node" attr.name="flops" attr.type="double"/>
  <key id="w" for="node" attr.name="weight_bytes" attr.type="double"/>
  <key id="u" for="node" attr.name="output_bytes" attr.type="double"/>
  <key id="a" for="node" attr.name="time_us.A" attr.type="double"/>
  <key id="b" for="node" attr.name="time_us.B" attr.type="double"/>
  <graph id="small" edgedefault="directed">
    <node id="in"><data key="o">Parameter</data><data key="u">64</data></node>
    <node id="conv"><data key="o">Convolution</data><data key="f">900</data>
      <data key="w">36</data><data key="u">200000</data>
      <data key="a">20</data><data key="b">30</data></node>
    <node id="bias"><data key="o">Add</data><data key="f">50</data>
      <data key="w">4</data><data key="u">200000</data>
      <data key="a">9</data><data key="b">8</data></node>
    <node id="relu"><data key="o">ReLU</data><data key="f">50</data>
      <data key="u">200000</data>
      <data key="a">7</data><data key="b">6</data></node>
    <node id="view"><data key="o">Reshape</data><data key="u">200000</data>
      <data key="a">3</data><data key="b">3</data></node>
    <node id="left"><data key="o">Weird</data><data key="u">8</data>
      <data key="a">1</data><data key="b">1</data></node>
    <node id="right"><data key="o">Weird</data><data key="u">8</data>
      <data key="a">1</data><data key="b">1</data></node>
    <node id="sum"><data key="o">Add</data><data key="u">8</data>
      <data key="a">2</data><data key="b">2</data></node>
    <node id="out"><data key="o">Result</data></node>
    <edge source="in" target="conv"/>
    <edge source="conv" target="bias"/>
    <edge source="bias" target="relu"/>
    <edge source="relu" target="view"/>
    <edge source="view" target="left"/>
    <edge source="relu" target="right"/>
    <edge source="left" target="sum"/>
    <edge source="right" target="sum"/>
    <edge source="sum" target="out"/>
  </graph>
</graphml>
END
cat >"$work/small.cluster.xml" <<'END'
<cluster>
  <device id="A" kind="cpu" gflops="10" launch_us="5"
    memory_bandwidth_gbs="1600"/>
  <device id="B" kind="cpu" gflops="10" launch_us="0"/>
  <link between="A B" gbps="1"/>
</cluster>
END

small=$work/small.graphml

# forms

exits "a small graph" 0 moirai-coarsen "$small"
cp "$work/out" "$work/text"
is "nothing is printed on stderr" "$(cat "$work/err")" ""
for line in 'ops         9, cleaned 6, fused 4 (44.4 %)' \
    'edges       9, cleaned 6, fused 4' \
    'clean cuts  6, now 2; at most 3 ops between, now 2' \
    '           0  constants  ops that depend on no input, or on its shape only, are folded' \
    '           1  sources    inputs and views of them are available on every device' \
    '           1  results    result nodes are merged into the producers of outputs' \
    '           1  views      ops that only reinterpret a tensor are merged into its producer' \
    'fused by the rules of default' \
    '           1  Convolution+Add+ReLU'; do
    ok "it prints: $line" grep -qxF -e "$line" "$work/text"
done

exits "as JSON" 0 moirai-coarsen --json "$small"
ok "which is valid" is_json "$work/out"
is "ops" "$(value ops)" 9
is "clean ops" "$(value clean_ops)" 6
is "coarse ops" "$(value coarse_ops)" 4
is "coarse edges" "$(value coarse_edges)" 4
is "clean cuts" "$(value clean_cuts)" 2
is "what was taken out" "$(value cleaned)" \
    '{"constants": 0, "sources": 1, "results": 1, "views": 1, "parallel": 0}'
ok "what was fused" grep -qxF '    "Convolution+Add+ReLU": 1' "$work/out"
is "keys stand in this order" \
    "$(sed -n 's/^  "\([a-z_]*\)":.*/\1/p' "$work/out" | tr '\n' ' ')" \
    "graph ops clean_ops coarse_ops edges clean_edges coarse_edges clean_cuts\
 largest_segment fusion cleaned fused "

exits "the graph to a file" 0 moirai-coarsen -o "$work/coarse.graphml" "$small"
ok "and the table to standard output" cmp "$work/text" "$work/out"
exits "the graph to standard output" 0 moirai-coarsen -o - "$small"
ok "and nothing else" cmp "$work/out" "$work/coarse.graphml"
exits "file and JSON at once" 0 \
    moirai-coarsen --json -o "$work/again.graphml" "$small"
ok "JSON on standard output" is_json "$work/out"
ok "the same file" cmp "$work/again.graphml" "$work/coarse.graphml"
is "standard input" "$(moirai-coarsen -c "$work/small.cluster.xml" -o - - \
    <"$small")" "$(cat "$work/coarse.graphml")"

exits "as a digraph" 0 moirai-coarsen --dot "$small"
ok "names and types of what is left" \
    grep -q '"conv" .*Convolution+Add+ReLU' "$work/out"
cp "$work/out" "$work/dot"
exits "a digraph to a file" 0 moirai-coarsen --dot -o "$work/file.dot" "$small"
ok "is the same" cmp "$work/file.dot" "$work/dot"
ok "with the table on standard output" cmp "$work/text" "$work/out"

# contents of the graph

coarse=$work/coarse.graphml
is "members are named" "$(datum "$coarse" conv members)" \
    '[&quot;conv&quot;,&quot;bias&quot;,&quot;relu&quot;,&quot;view&quot;]'
is "flops add up" "$(datum "$coarse" conv flops)" 1000
is "weights add up" "$(datum "$coarse" conv weight_bytes)" 40
is "what makes the result leaves the network" "$(datum "$coarse" sum output)" \
    true
is "others do not" "$(grep -c 'key="output"' "$coarse")" 1
is "view and viewed are one tensor" "$(grep -c 'src_port' "$coarse")" 0

# Of 20 + 9 + 7 us two launches of 5 us are saved, and 800,000 bytes that are
# neither written nor read: half a microsecond. The view does no work.
is "a time on a known device" "$(datum "$coarse" conv t0)" 25.5
is "on an unknown one times add up" "$(datum "$coarse" conv t1)" 44
exits "on faster devices" 0 moirai-coarsen -c inter-server -o - "$small"
ok "no time is below the longest part" awk -F'[<>]' '
    /id="conv"/ {
        for (i = 1; i <= NF; i++)
            if ($i ~ /key="t0"/)
                exit $(i + 1) >= 20 ? 0 : 1
    }' "$work/out"

exits "moirai-info reads it" 0 moirai-info --json "$coarse"
is "with as many ops" "$(value ops)" 4
is "and edges" "$(value edges)" 4
exits "nothing taken out, nothing fused" 0 \
    moirai-coarsen --clean none --fusion none -o "$work/same.graphml" "$coarse"
ok "leaves it as it is" cmp "$coarse" "$work/same.graphml"
exits "coarsened again" 0 \
    moirai-coarsen -c "$work/small.cluster.xml" -o "$work/twice.graphml" \
    "$coarse"
ok "it stays as it is" cmp "$coarse" "$work/twice.graphml"

# choices

exits "only some passes" 0 \
    moirai-coarsen --clean sources,results --fusion none --json "$small"
is "leave the view" "$(value coarse_ops)" 7
exits "all passes but one" 0 \
    moirai-coarsen --clean all,-views --fusion none --json "$small"
is "leave it as well" "$(value coarse_ops)" 7
exits "none" 0 moirai-coarsen --clean none --fusion none --json "$small"
is "leave everything" "$(value coarse_ops)" 9

printf '# mine\nWEIRD add\t# both\r\n\nbias relu\n' >"$work/own.rules"
exits "a file of rules" 0 \
    moirai-coarsen --fusion "$work/own.rules" --json "$small"
ok "is followed" grep -qx '    "Add+ReLU": 1,*' "$work/out"
ok "also for unknown types" grep -qx '    "Weird+Add": 1,*' "$work/out"
is "the file is named" "$(value fusion)" "\"$work/own.rules\""

# the paper's models

moirai-zoo --list | while read -r name _; do
    [ "$name" = name ] || echo "$name"
done >"$work/models"
is "there are eleven models" "$(wc -l <"$work/models" | tr -d ' ')" 11
# Those of a family differ in size.
in_ci || sed -n 'p;n;n;n' "$work/models" >"$work/some"
in_ci || mv "$work/some" "$work/models"

while read -r model; do
    moirai-zoo "$model" >"$work/zoo.graphml"
    exits "$model by the default rules" 0 \
        moirai-coarsen --json "$work/zoo.graphml"
    before=$(value ops)
    after=$(value coarse_ops)
    ok "$model: $after of $before ops stay, as in the paper" \
        test $((100 * after)) -ge $((69 * before)) -a \
        $((100 * after)) -le $((81 * before))
    for set in eigen cublaslt cudnn onednn none; do
        exits "$model by those of $set" 0 \
            moirai-coarsen --fusion "$set" --json "$work/zoo.graphml"
        after=$(value coarse_ops)
        case $set in
        eigen | none)
            is "$model: $set has no rule for it" "$after" "$before"
            ;;
        *)
            ok "$model: $set fuses something" test "$after" -lt "$before"
            ;;
        esac
    done
done <"$work/models"

moirai-zoo gpt3-330m >"$work/zoo.graphml"
exits "a whole model" 0 \
    moirai-coarsen -q -o "$work/one.graphml" "$work/zoo.graphml"
moirai-coarsen -q -o "$work/two.graphml" "$work/zoo.graphml" >"$work/out"
ok "comes out the same every time" cmp "$work/one.graphml" "$work/two.graphml"
moirai-coarsen -q -o "$work/two.graphml" "$work/one.graphml" >"$work/out"
ok "and the same when coarsened again" \
    cmp "$work/one.graphml" "$work/two.graphml"

# The same file with nodes and edges in another order.
{
    grep -v '<node\|<edge\|</graph' "$work/zoo.graphml"
    grep '<edge' "$work/zoo.graphml" | sort -r
    grep '<node' "$work/zoo.graphml" | sort -r
    echo '</graph></graphml>'
} >"$work/shuffled.graphml"
exits "the same file in another order" 0 \
    moirai-coarsen -q -o "$work/two.graphml" "$work/shuffled.graphml"
ok "gives the same bytes" cmp "$work/one.graphml" "$work/two.graphml"

# published networks

for file in "$data"/openvino/*.xml "$data"/neusight/*.graphml; do
    name=${file#"$data"/}
    if [ -e "$file" ]; then
        exits "$name" 0 \
            moirai-coarsen --json -o "$work/one.graphml" "$file"
        ok "$name: is smaller" test "$(value coarse_ops)" -lt "$(value ops)"
        ok "$name: has clean cuts" test "$(value clean_cuts)" -gt 0
        moirai-coarsen -q -o "$work/two.graphml" "$work/one.graphml" \
            >"$work/out"
        ok "$name: stays as it is when coarsened again" \
            cmp "$work/one.graphml" "$work/two.graphml"
    else
        skip "$name" "it is not there"
    fi
done

# errors

complains "no operand" 2 "" moirai-coarsen
complains "an unknown pass" 2 "'view' is no cleaning pass" \
    moirai-coarsen --clean view "$small"
complains "an unknown set" 1 "no built-in fusion set" \
    moirai-coarsen --fusion none-such "$small"
printf 'conv bn\nconv *\n' >"$work/star.rules"
complains "a star in a rule" 1 "$work/star.rules:2: '*' is not supported" \
    moirai-coarsen --fusion "$work/star.rules" "$small"
complains "a folder of rules" 1 "$work" moirai-coarsen --fusion "$work" "$small"
complains "a missing graph" 1 "$work/none.graphml" \
    moirai-coarsen "$work/none.graphml"
complains "a graph that is none" 1 "$work/text:1" moirai-coarsen "$work/text"
complains "a missing cluster" 1 "none-such" \
    moirai-coarsen -c "$work/none-such" "$small"
complains "JSON and graph in one place" 2 "-o FILE" \
    moirai-coarsen --json -o - "$small"
complains "JSON and digraph in one place" 2 "-o FILE" \
    moirai-coarsen --json --dot "$small"
complains "everything from standard input" 2 "standard input" \
    moirai-coarsen -c - -
cp "$small" "$work/own.graphml"
complains "the graph as output" 2 "would replace $work/own.graphml, which is" \
    moirai-coarsen -o "$work/own.graphml" "$work/own.graphml"
complains "the rules as output" 2 "would replace $work/star.rules, which is" \
    moirai-coarsen --fusion "$work/star.rules" -o "$work/star.rules" "$small"
ok "which is as it was" cmp "$small" "$work/own.graphml"
complains "a folder to write to that is not there" 1 "$work/none/x" \
    moirai-coarsen -o "$work/none/x" "$small"
echo '<cluster><device/></cluster>' >"$work/bad.cluster.xml"
sed '/time_us/d; /key="[ab]"/s/<data key="[ab]">[^<]*<.data>//g' "$small" \
    >"$work/bad.graphml"
exits "a bad cluster that is not needed" 0 moirai-coarsen "$work/bad.graphml"
cp "$small" "$work/bad.graphml"
complains "a bad cluster that is needed" 1 "$work/bad.cluster.xml" \
    moirai-coarsen "$work/bad.graphml"

if [ -w /dev/full ]; then
    complains "a full disk" 1 "" \
        sh -c 'moirai-coarsen "$0" >/dev/full' "$small"
else
    skip "a full disk" "there is no /dev/full"
fi

echo '<graphml><graph/></graphml>' >"$work/empty.graphml"
for form in "" --json --dot "-o -"; do
    # shellcheck disable=SC2086
    exits "an empty graph $form" 0 moirai-coarsen $form "$work/empty.graphml"
done

exits "help" 0 moirai-coarsen --help
# Roles and sets are in the manual page, by the names in the source.
page=$top_srcdir/man/moirai-coarsen.1
for role in $(sed -n '/^const mo_fusion_role /,/^};/s/^    { "\([a-z]*\)",.*/\1/p' \
    "$top_srcdir/src/coarsen/fusion_pattern.c"); do
    ok "the page explains $role" grep -qx ".It Cm $role" "$page"
done
for set in $(sed -n '/^const mo_fusion_rule_set /,/^};/s/^    { "\([a-z]*\)",.*/\1/p' \
    "$top_srcdir/src/coarsen/fusion_rule_sets.c"); do
    ok "the page and --help list $set" \
        eval 'grep -qx ".It Cm $set" "$page" && grep -q "$set" "$work/out"'
done
exits "-v reports each step" 0 moirai-coarsen -v "$small"
ok "and for which devices" grep -q '^moirai-coarsen: times of fused ops: ' \
    "$work/err"

done_testing
