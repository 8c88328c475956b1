#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers
# The objective period: moirai-place and what it reports.
. "${top_srcdir:=.}/tests/support/tap.sh"

cp "$top_srcdir/examples/inception.graphml" \
    "$top_srcdir/examples/inception.cluster.xml" "$work"
cd "$work" || exit 99
net=inception.graphml

# key NAME: its number in the first object of the report in "out".
key()
{
    sed -n "s/^.*\"$1\": \([0-9.]*\).*/\1/p" out | head -n 1
}

place="moirai-place -q --fusion none --objective period --assist none \
    --threads 1"

exits "a period is found" 0 $place --rounds 3 --json $net
ok "it is reported" test -n "$(key period_us)"
ok "with the requests in flight" test "$(key in_flight)" -ge 1
ok "and a bound on them" test "$(key least_in_flight)" -le "$(key in_flight)"
ok "no bound is above it" \
    awk "BEGIN { exit !($(key bound_us) <= $(key period_us)) }"
ok "a request takes no less than a period" \
    awk "BEGIN { exit !($(key latency_us) >= $(key period_us)) }"
cp out first
$place --rounds 3 --json --threads 2 $net | sed '/seconds/d' >second
is "two threads change nothing" "$(sed '/seconds/d' first)" "$(cat second)"

exits "one request at a time" 0 $place --in-flight 1 --rounds 1 --json $net
is "is one in flight" "$(key in_flight)" 1
ok "which is the least" grep -q '"in_flight_is_least": true' out
is "of one copy" "$(key replicas_us)" "$(key best_single_us)"
moirai-place -q --fusion default --json $net >single
exits "the least latency, coarsened" 0 $place --fusion default --in-flight 1 \
    --json -o one.sol $net
is "is a period" "$(key period_us)" \
    "$(sed -n 's/^.*"makespan_us": \([0-9.]*\).*/\1/p' single | head -n 1)"
ok "that is proven" grep -q '"optimal": true' out
moirai-check --json one.sol >out
is "that the solution keeps" "$(key period_us)" \
    "$(sed -n 's/^.*"makespan_us": \([0-9.]*\).*/\1/p' single | head -n 1)"
ok "with its start times" grep -q '"times_in_file": true' out

exits "two at a time" 0 $place --in-flight 2 --rounds 1 --json -o two.sol $net
cp out limited
ok "are in the solution" grep -q '^moirai_n_2 1' two.sol
exits "which is valid" 0 moirai-check --json two.sol
ok "with two at most" test "$(key in_flight)" -le 2
is "and the same period" "$(key period_us)" \
    "$(sed -n 's/^.*"period_us": \([0-9.]*\).*/\1/p' limited | head -n 1)"
ok "as its information has it" \
    sh -c 'moirai-info two.sol | grep -q "^in flight *at most 2"'

# Start times that break precedence, used or not.
sed 's/^s_14 .*/s_14 0/' two.sol >odd.sol
exits "an op before its inputs" 4 moirai-check odd.sol
ok "is named" grep -q "(1a) op 'concat' starts before the transfer from op 'b1_relu'" out
$place --rounds 1 -o bare.sol $net >/dev/null
i=0
while [ $i -lt 15 ]; do
    echo "s_$i $((100 - i))" >>bare.sol
    i=$((i + 1))
done
exits "without a limit, too" 4 moirai-check --json bare.sol
ok "and as JSON" grep -q '(1a) op ' out

exits "a model for two at a time" 0 moirai-emit -q --fusion none --objective \
    period \
    --in-flight 2 -o two.lp $net
ok "has the limit" grep -q 'identity: moirai_n_2$' two.lp
ok "and its rows" grep -q '^latency_' two.lp
# All ops on A: 111.1 us; the longest path takes no less.
{
    echo '# status: optimal'
    echo 'w 111.1'
    seq -f 'x_%g_0 1' 0 14
} >all-a
exits "an answer to it" 0 moirai-solve --json \
    --command 'cp all-a {solution} # {model}' -o all.sol two.lp
ok "has its own period" test "$(key period_us)" = 111.1
ok "as it claims" grep -q '"makespan_us": 111.1, "is_reached": true' out
# Five ops on B: the largest load is 183.248 us, one request takes 283.61 us.
moirai-emit -q --fusion none --objective period --in-flight 1 -o lone.lp $net
{
    echo '# status: optimal'
    echo 'w 200'
    seq 0 14 | sed 's/^[5-9]$/x_&_1 1/; s/^[0-9]*$/x_&_0 1/'
} >some-b
moirai-solve -q --command 'cp some-b {solution} # {model}' -o some.sol lone.lp \
    >/dev/null
exits "a period between load and pipeline" 0 moirai-check --json some.sol
is "is made anew" "$(key period_us)" 283.61
ok "and not reached" grep -q '"makespan_us": 200, "is_reached": false' out
exits "as text" 0 moirai-check some.sol
ok "in words" grep -q \
    '^period  *283.61 us, claimed 200 us, which is not reached$' out
exits "moirai with the limit" 0 moirai -q --json --objective period \
    --fusion none --in-flight 2 --time 10 $net
ok "searches for it" test "$(key in_flight)" -le 2
is "as moirai-place does" "$(key period_us)" \
    "$(sed -n 's/^.*"period_us": \([0-9.]*\).*/\1/p' limited | head -n 1)"
complains "a limit without a pipeline" 2 "in-flight is for --objective period" \
    moirai-place -q --fusion none --in-flight 2 $net

exits "a placement is a solution" 0 $place --rounds 3 -o place.sol $net
exits "that is valid" 0 moirai-check --json place.sol
is "with the same period" "$(key period_us)" \
    "$(sed -n 's/^.*"period_us": \([0-9.]*\).*/\1/p' first)"
exits "live memory of a pipeline" 0 $place --memory live --rounds 1 --json \
    -o live.sol $net
cp out limited
exits "is checked" 0 moirai-check --json live.sol
is "with its period" "$(key period_us)" \
    "$(sed -n 's/^.*"period_us": \([0-9.]*\).*/\1/p' limited | head -n 1)"
# Two ops of 10 us, a transfer of 2 us: apart where the overhead is below 10 us.
cat >pair.graphml <<'END'
<graphml>
<key id="t" for="node" attr.name="time_us.A"/>
<key id="u" for="node" attr.name="time_us.B"/>
<key id="c" for="edge" attr.name="comm_us.A.B"/>
<key id="d" for="edge" attr.name="comm_us.B.A"/>
<graph edgedefault="directed">
<node id="a"><data key="t">10</data><data key="u">10</data></node>
<node id="b"><data key="t">10</data><data key="u">10</data></node>
<edge source="a" target="b"><data key="c">2</data><data key="d">2</data></edge>
</graph></graphml>
END
for overhead in 0 4 12; do
    printf '<cluster><device id="A" overhead_us="%d"/><device id="B" %s/>%s' \
        $overhead "overhead_us=\"$overhead\"" \
        '<link between="A B" gbps="8"/></cluster>' >pair.xml
    $place --json -c pair.xml -o pair.sol pair.graphml >out
    period=$(key period_us)
    is "an overhead of $overhead us" "$period" \
        "$(echo "0 10 4 14 12 20" | tr ' ' '\n' |
            sed -n "/^$overhead\$/{n;p;q;}")"
    moirai-check --json -c pair.xml pair.sol >out
    is "is in the steady state of $overhead us" "$(key steady_period_us)" \
        "$period"
done

# Copies of 20 us on two devices, with a host of 14 us for each request.
printf '<cluster host_request_us="14">%s</cluster>' \
    '<device id="A"/><device id="B"/><link between="A B" gbps="8"/>' >pair.xml
is "copies share the host" "$($place --json -c pair.xml pair.graphml |
    sed -n 's/^.*"replicas_us": \([0-9]*\).*/\1/p' | head -n 1)" 14
# The host takes 1 us for the request and some for the transfer: apart up to 19.
for host in 8 15 30; do
    printf '<cluster host_request_us="1" host_transfer_us="%d">%s</cluster>' \
        $host '<device id="A"/><device id="B"/><link between="A B" gbps="8"/>' \
        >pair.xml
    $place --json -c pair.xml -o pair.sol pair.graphml >out
    period=$(key period_us)
    is "a host of $host us" "$period" "$(echo "8 10 15 16 30 20" |
        tr ' ' '\n' | sed -n "/^$host\$/{n;p;q;}")"
    moirai-check --json -c pair.xml pair.sol >out
    is "is in the steady state of $host us" "$(key steady_period_us)" "$period"
    is "dp-contiguous, too" "$($place --json --method dp-contiguous \
        -c pair.xml pair.graphml | sed -n 's/^.*"period_us": \([0-9]*\).*/\1/p' |
        head -n 1)" "$period"
done

# One device of 20 us cannot be faster than a host of 50.
printf '<cluster host_request_us="50">%s</cluster>' \
    '<device id="A"/><device id="B"/><link between="A B" gbps="8"/>' >pair.xml
is "one device waits for the host" "$($place --json -c pair.xml -o pair.sol \
    pair.graphml | sed -n 's/^.*"best_single_us": \([0-9]*\).*/\1/p' |
    head -n 1)" 50
moirai-check --json -c pair.xml pair.sol >out
is "and so says the check" "$(key best_single_us) $(key bound_us)" "50 50"
# Times beyond the range of integers.
for attribute in host_request_us host_transfer_us; do
    printf '<cluster %s="1e300">%s</cluster>' $attribute \
        '<device id="A"/><device id="B"/><link between="A B" gbps="8"/>' \
        >pair.xml
    complains "$attribute of 1e300" 1 "pair.xml: host_request_us or" \
        $place -c pair.xml pair.graphml
done
printf '<cluster>%s</cluster>' '<device id="A" overhead_us="1e300"/>
    <device id="B"/><link between="A B" gbps="8"/>' >pair.xml
complains "overhead_us of 1e300" 1 "pair.xml:1: overhead_us of device 'A'" \
    $place -c pair.xml pair.graphml

complains "a model with live memory" 2 "or moirai-place" \
    moirai-emit -q --fusion none --objective period --memory live $net -o -
ok "its objective is named" \
    sh -c 'moirai-info place.sol | grep -q "^period .*as claimed"'

# A period of 0 is a period.
graph=http://graphml.graphdrawing.org/xmlns
cat >zero.graphml <<EOF
<graphml xmlns="$graph">
<key id="t" for="node" attr.name="time_us.A" attr.type="double"/>
<key id="u" for="node" attr.name="time_us.B" attr.type="double"/>
<key id="b" for="edge" attr.name="bytes" attr.type="long"/>
<graph edgedefault="directed">
<node id="x"><data key="t">0</data><data key="u">0</data></node>
<node id="y"><data key="t">0</data><data key="u">0</data></node>
<edge source="x" target="y"><data key="b">8</data></edge>
</graph></graphml>
EOF
exits "a period of 0" 0 $place --congestion link --tensors once --memory none \
    --cluster inception.cluster.xml --rounds 1 -o zero.sol zero.graphml
ok "is that of a period solution" grep -q moirai_o_period zero.sol
exits "which is valid" 0 moirai-check --json --graph zero.graphml \
    --cluster inception.cluster.xml zero.sol
is "with this period" "$(key period_us)" 0

exits "a model is written" 0 moirai-emit -q --fusion none --objective period \
    $net -o net.lp
ok "its identity has the objective" grep -q moirai_o_period net.lp
complains "another formulation" 2 "contradict each other" \
    moirai-emit -q --fusion none --objective period --formulation paper $net \
        -o -
complains "that of the latency" 2 \
    "--objective period and --formulation compact contradict each other" \
    moirai-emit -q --fusion none --objective period --formulation compact \
        $net -o -
exits "a formulation has its objective" 0 \
    moirai-emit -q --fusion none --formulation period $net -o own.lp
ok "it is the same model" cmp net.lp own.lp

# Claims of solvers: all ops on A take 111.1 us, the least period is 85.5 us.
value()
{
    sed -n "s/^  \"$1\": \(.*[^,]\),*\$/\1/p" out
}
told='cp all-a {solution} # {model}'
ok "the unit is a microsecond" grep -q 'identity: moirai_u_1000$' net.lp
exits "a lie" 0 moirai-solve --json --command "$told" -o lie.sol net.lp
is "is refuted by the search" \
    "$(value status) $(value period_us) $(value solver) $(value bound_by)" \
    '"optimal" 85.5 "search" "search"'
ok "which is reported" grep -q '"refuted": ".*claims that 111.100 us is' out
exits "its placement" 0 moirai-check --json lie.sol
is "is a solution of the period" "$(key period_us)" 85.5
{ echo '# status: optimal' && sed '/^#/d' lie.sol; } >true
sed -i.bak '/^moirai_/d; s/^w .*/w 85.5/' true
told='cp true {solution} # {model}'
exits "a true claim" 0 moirai-solve --json --command "$told" -o true.sol net.lp
is "is confirmed by the search" \
    "$(value status) $(value claimed_by) $(value confirmed_by)" \
    '"optimal" "the command" "search"'
exits "without a cross-check" 0 moirai-solve --json --cross-check 0 \
    --command "$told" -o true.sol net.lp
is "it is a claim" "$(value status) $(value bound_us)" \
    '"claimed_optimal" 55.55'
moirai-emit -q --fusion none --objective period --slack 2 $net -o open.lp
sed "s/^Subject To/&\\n mine: $(seq -f 'x_%g_0' -s ' + ' 0 14) >= 15/" \
    open.lp >extended.lp
exits "a model with a row of the user" 0 moirai-solve --json \
    --command 'cp all-a {solution} # {model}' -o extended.sol extended.lp
is "has its own optimum" "$(value period_us) $(value refuted)" "111.1 "

# moirai searches first.
exits "moirai" 0 moirai --objective period --fusion none --keep kept $net
ok "needs no solver" grep -q 'no solver is needed' err
ok "where the search has the proof" \
    grep -q '^bound  *85.5 us (search, recomputed), gap 0.00 %$' out
grep -v '^. file: \|^. digest: ' kept/inception.lp >kept.lp
is "the model is that of moirai-emit" \
    "$(grep -v '^. digest: ' net.lp | cmp - kept.lp 2>&1)" ""
ok "the start that of the search" grep -q '^w 85.5$' kept/inception.start.sol
exits "a solver that lies" 0 moirai -q --json --objective period \
    --fusion none --command 'cp all-a {solution} # {model}' $net
is "is not believed" "$(value status) $(value period_us) $(value solver)" \
    '"optimal" 85.5 "search"'
exits "without a search before" 0 moirai -q --json --objective period \
    --fusion none --no-strengthen --command "$told" $net
is "it is one afterwards" "$(value status) $(value confirmed_by)" \
    '"optimal" "search"'
exits "a time for the search" 0 moirai -q --objective period --strengthen 1 $net
complains "is none for a model" 2 "has no rows for what is proven" \
    moirai-emit -q --fusion none --objective period --strengthen 1 $net -o -

# The authors' instance: the pipeline keeps the largest load exactly.
data=${MOIRAI_DATA:-$top_srcdir/../shared/data}
if [ -r "$data/authors/GoogLeNet.graphml" ]; then
    cp "$data"/authors/GoogLeNet.* .
    $place --method dp-contiguous --method moirai --rounds 1 -o GoogLeNet.sol \
        GoogLeNet.graphml >/dev/null
    exits "a placement of GoogLeNet" 0 moirai-check --json GoogLeNet.sol
    is "keeps its period for 200 requests" "$(key steady_period_us)" \
        "$(key period_us)"
else
    skip "a placement of GoogLeNet" "its data is not here"
    skip "keeps its period for 200 requests" "its data is not here"
fi
done_testing
