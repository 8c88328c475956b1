#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests of moirai-profile: models fitted to profiles and graphs, the files it
# writes, and its errors where there is nothing to fit to.
. "${top_srcdir:=.}/tests/support/tap.sh"

data=${MOIRAI_DATA:-$top_srcdir/../shared/data}
profile=$top_srcdir/examples/bert_large.profile.xml

is_json()
{
    ! command -v python3 >/dev/null || python3 -m json.tool "$work/out"
}

# Prints the absolute difference, in percent, of the predicted and the measured
# total of device $1, from the --json report in $work/out.
total_error()
{
    sed -n "s/.*\"device\": \"$1\".*\"measured_us\": \([^,]*\), \
\"predicted_us\": \([^}]*\)}.*/\1 \2/p" "$work/out" |
        awk '{ off = 100 * ($2 / $1 - 1); print off < 0 ? -off : off }'
}

# Returns whether the number $1 is at most $2.
at_most()
{
    awk -v got="$1" -v most="$2" \
        'BEGIN { exit !(got != "" && got + 0 <= most + 0) }'
}

exits "a profile is fitted" 0 moirai-profile fit "$profile"
cp "$work/out" "$work/text"
ok "nothing is printed on stderr" test ! -s "$work/err"
ok "it reports what it was fitted to" \
    grep -qE '^fitted to   [0-9]+ rows of p100, p4, t4, v100$' "$work/text"
ok "and tested on" \
    grep -qE '^tested on   [0-9]+ rows of p100, p4, t4, v100$' "$work/text"
ok "there is a line for all of it" grep -q '^all ' "$work/text"
exits "the same again" 0 moirai-profile fit "$profile"
ok "prints the same" cmp "$work/out" "$work/text"
exits "and so does standard input" 0 \
    sh -c 'moirai-profile fit - <"$1"' sh "$profile"
ok "byte for byte" cmp "$work/out" "$work/text"

exits "devices are held back" 0 moirai-profile fit --train v100,t4 \
    --json -o "$work/factors.xml" "$profile"
ok "the report is valid JSON" is_json
ok "it was fitted to two devices" grep -q \
    '"fitted": {"rows": 46, "devices": \["t4", "v100"\]},' "$work/out"
ok "and tested on the others" grep -q \
    '"tested": {"rows": 46, "devices": \["p100", "p4"\]},' "$work/out"
exits "--test instead of --train" 0 moirai-profile fit --json \
    --test p100,P4 -o "$work/same.xml" "$profile"
ok "is the same choice" cmp "$work/factors.xml" "$work/same.xml"

ok "the factors are XML" grep -q '^<efficiency>$' "$work/factors.xml"
ok "by class" grep -qE '<factors class="matmul" compute="0\.[0-9]+" ' \
    "$work/factors.xml"
ok "and generation" grep -q 'class="softmax" generation="turing"' \
    "$work/factors.xml"
ok "of what was seen alone" sh -c '! grep -q pascal "$1"' sh \
    "$work/factors.xml"
exits "they go to standard output, too" 0 moirai-profile fit \
    --train v100,t4 -o - "$profile"
ok "without the report" cmp "$work/out" "$work/factors.xml"

cp "$profile" "$work/own.xml"
complains "factors in the place of a profile" 2 "would replace $work/own.xml" \
    moirai-profile fit -o "$work/own.xml" "$profile" "$work/own.xml"
ok "which is as it was" cmp "$profile" "$work/own.xml"
exits "-v reports each step" 0 moirai-profile fit -v "$profile"
ok "on stderr" grep -q ': 92 rows$' "$work/err"

cat >"$work/unknown.xml" <<'END'
<profile><op device="A" signature="x" median_us="1"/></profile>
END
cat >"$work/times.graphml" <<'END'
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="o" for="node" attr.name="op" attr.type="string"/>
  <key id="s" for="node" attr.name="shape" attr.type="string"/>
  <key id="d" for="node" attr.name="dtype" attr.type="string"/>
  <key id="v" for="node" attr.name="time_us.v100" attr.type="double"/>
  <key id="t" for="node" attr.name="time_us.t4" attr.type="double"/>
  <graph edgedefault="directed">
    <node id="in"><data key="o">Parameter</data><data key="s">64,1024</data>
      <data key="d">f32</data></node>
    <node id="relu"><data key="o">ReLU</data><data key="s">64,1024</data>
      <data key="d">f32</data><data key="v">9</data><data key="t">8</data></node>
    <node id="view"><data key="o">Reshape</data><data key="s">65536</data>
      <data key="d">f32</data><data key="v">1</data><data key="t">1</data></node>
    <edge source="in" target="relu"/><edge source="relu" target="view"/>
  </graph>
</graphml>
END
exits "graphs are read, too" 0 \
    moirai-profile fit --train v100 "$work/times.graphml"
ok "without what does no work" grep -q '^tested on   1 rows of t4$' "$work/out"
exits "or with it" 0 moirai-profile fit --clean none --train v100 \
    "$work/times.graphml"
ok "a view is a row then" grep -q '^tested on   2 rows of t4$' "$work/out"
exits "several files together" 0 moirai-profile fit --train v100 \
    "$work/times.graphml" "$profile" "$work/unknown.xml"
ok "count together" grep -q '^fitted to   24 rows of v100$' "$work/out"
ok "less what is of no use" grep -q '^not used    1 rows$' "$work/out"

complains "no rows of use" 1 'unknown.xml: none of 1 rows, other files included, is a time' \
    moirai-profile fit "$work/unknown.xml"
for us in 1e300 0; do
    cat >"$work/outside.xml" <<END
<profile>
  <op device="t4" signature="MatMul(f32[8,64], f32[64,8]) f32[8,8]"
    median_us="$us" flops="8192" bytes="4352" class="matmul"/>
</profile>
END
    complains "a time of $us us" 1 \
        'outside.xml:2: median_us of ' \
        moirai-profile fit "$work/outside.xml"
done
complains "a device without times" 1 "no times measured on 'h100'" \
    moirai-profile fit --train h100 "$profile"
complains "no device at all" 2 "'Q' is no device model we know" \
    moirai-profile fit --test Q "$profile"
complains "a device on both sides" 2 "'t4' is in --train and in --test" \
    moirai-profile fit --train t4 --test t4 "$profile"
complains "nothing to test on" 1 'none is left to test on' \
    moirai-profile fit --train v100,p100,t4,p4 "$profile"
complains "no such file" 1 "$work/none.xml" \
    moirai-profile fit "$work/none.xml"
complains "a file that is neither" 1 'the root element is <cluster>' \
    moirai-profile fit "$top_srcdir/examples/inception.cluster.xml"
complains "no such subcommand" 2 "no subcommand 'measure'; there are fit" \
    moirai-profile measure "$profile"
complains "no file" 2 'operand' moirai-profile fit
complains "an unwritable file" 1 "$work/none" \
    moirai-profile fit -o "$work/none/f.xml" "$profile"

printf '<profile><op device="t4" signature="x" median_us="x"/></profile>' \
    >"$work/wrong.xml"
complains "a wrong number" 1 "$work/wrong.xml:1: median_us 'x'" \
    moirai-profile fit "$work/wrong.xml"

# The claim of moirai-cost(7): totals of a network within a fifth, on devices
# that are not in the fit.
graph=$data/neusight/bert_large-inf-512-8.graphml
for pair in v100,p100:t4:p4 v100,t4:p100:p4 v100,p4:p100:t4 \
    p100,t4:v100:p4 p100,p4:v100:t4 t4,p4:v100:p100; do
    if [ ! -r "$graph" ]; then
        skip "BERT-Large, fitted on ${pair%%:*}" "the data is not here"
        continue
    fi
    exits "BERT-Large, fitted on ${pair%%:*}" 0 \
        moirai-profile fit --json --train "${pair%%:*}" "$graph"
    for device in $(echo "${pair#*:}" | tr : ' '); do
        ok "total on $device within 20 %" at_most "$(total_error "$device")" 20
    done
done

# measuring

net=$top_srcdir/examples/two_branches
run()
{
    moirai-profile run -q --fusion none --runs 5 \
        -c "$net/model.cluster.xml" -o "$work/run.xml" "$@" "$net/model.xml"
}

rows_of()
{
    grep -c "<op device=\"$1\"" "$work/run.xml"
}

exits "a network is measured" 0 run
is "in silence" "$(cat "$work/out" "$work/err")" ""
ok "on one device" test "$(rows_of fast)" -gt 15
is "as on the other" "$(rows_of slow)" "$(rows_of fast)"
ok "and both ways between them" grep -q '<link from="slow" to="fast"' \
    "$work/run.xml"
exits "what is placed by it" 0 moirai-place -q -p "$work/run.xml" \
    --method heft "$net/model.xml"
exits "every op has a time" 0 moirai-info -q --instance -p "$work/run.xml" \
    "$net/model.xml"
cp "$work/run.xml" "$work/before.xml"
exits "measured again" 0 run
ok "nothing is" cmp "$work/before.xml" "$work/run.xml"
sed '/device="slow".*MatMul/d' "$work/before.xml" >"$work/run.xml"
exits "with rows missing on one device" 0 run
ok "these are measured" grep -q 'device="slow" signature="MatMul' \
    "$work/run.xml"
ok "and the other stays as it is" sh -c "
    grep 'device=\"fast\"' '$work/before.xml' >'$work/a'
    grep 'device=\"fast\"' '$work/run.xml' | cmp - '$work/a'"
exits "coarsened, in the same file" 0 run --fusion default
ok "ops that are one are a row" grep -q 'signature="Convolution+Add' \
    "$work/run.xml"
rm "$work/run.xml"
exits "each by itself" 0 run --as-placed
is "what works has a time" "$(grep 'median_us="0"' "$work/run.xml" |
    grep -cvE 'class="(none|free)"')" 0
exits "to standard output" 0 moirai-profile run -q --runs 1 "$net/model.xml"
ok "it is a profile" grep -q '<op device="cpu"' "$work/out"
exits "while the others rest" 0 moirai-profile run -q --runs 1 --alone \
    -c "$net/model.cluster.xml" "$net/model.xml"
complains "no CPUs" 1 "has no device of kind cpu" \
    moirai-profile run -c inter-server "$net/model.xml"
complains "two graphs" 2 "one graph" \
    moirai-profile run "$net/model.xml" "$net/model.xml"
moirai-place -q -c "$net/model.cluster.xml" -o "$work/placed.sol" \
    "$net/model.xml"
complains "a solution on two devices" 1 "placed on 2 devices" \
    env MOIRAI_PATH="$net" moirai-profile run "$work/placed.sol"

done_testing
