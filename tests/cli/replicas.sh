#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers
# Replication: moirai-place --replicas, and solutions with several copies.
. "${top_srcdir:=.}/tests/support/tap.sh"

cp "$top_srcdir/examples/inception.graphml" \
    "$top_srcdir/examples/inception.cluster.xml" "$work"
cd "$work" || exit 99
net=inception.graphml
place="moirai-place -q --threads 1 --assist none --objective period"

# key NAME: its first number in the report in "out".
key()
{
    sed -n "s/^.*\"$1\": \([0-9.]*\).*/\1/p" out | head -n 1
}

exits "copies are found" 0 $place --replicas auto -o two.sol $net
ok "two are best" grep -q '^2 copies: 48.125 us, bound [0-9.]* us, gap' out
ok "proven by the search" \
    grep -q '^the search proves 48.125 us, gap 0.00 %, but has no certificate' out
ok "of the period of whole copies" grep -q '    copy 1: 81.700 us on A$' out
exits "they are valid" 0 moirai-check --json two.sol
is "the period is that of both" "$(key period_us)" 48.125
ok "the simulation reaches it" \
    awk "BEGIN { exit !($(key steady_period_us) <= 48.126) }"
is "two copies" "$(grep -c '"latency_us"' out)" 3
exits "they are described" 0 moirai-check two.sol
ok "with shares" grep -q '^copy 2  *117.1 us, 41.1 % of the requests' out
ok "and all devices busy" grep -q '^B  *8 ops  *100.0 % busy' out
exits "the report as JSON" 0 $place --replicas auto --json $net
ok "has the copies" grep -q '{"period_us": 81.7, "devices": \["A"\]}' out
cp out first
$place --replicas auto --json --threads 2 $net | sed '/seconds/d' >second
is "two threads change nothing" "$(sed '/seconds/d' first)" "$(cat second)"

exits "one copy" 0 $place --replicas 1 -o one.sol $net
ok "is a pipeline" sh -c '! grep -q "^r_" one.sol'
exits "two copies" 0 $place --replicas 2 --json $net
is "are as many" "$(key period_us)" 57.878
# A copy that needs both devices leaves none for another.
sed 's/memory_gib="[0-9]*"/memory_bytes="500000"/' \
    inception.cluster.xml >small.cluster.xml
exits "memory for one copy only" 0 $place --replicas auto -c small.cluster.xml \
    --fusion none -o small.sol $net
ok "one group has it" grep -q '^1 copy: .* us' out
exits "two do not fit" 0 $place --replicas 2 -c small.cluster.xml \
    --fusion none $net
ok "which is said" grep -q '^copies: none found$' out
exits "without a device" 0 $place --replicas auto --drop-device A -o b.sol $net
ok "one copy is left" grep -q '^1 copy: 117.100 us' out
exits "it is valid" 0 moirai-check b.sol

# Solutions that were edited.
sed '/^r_1_3_1 /d' two.sol >odd.sol
exits "an op is missing" 4 moirai-check odd.sol
ok "it is named" grep -q "(1c) copy 2 has op '.*' on no device" out
sed 's/^r_1_3_1 /r_1_3_0 /' two.sol >odd.sol
exits "a device is shared" 4 moirai-check odd.sol
ok "it is named" grep -q "two copies share device 'A'" out
{ cat two.sol; echo 'r_1_3_1 1'; } >odd.sol
exits "an op occurs twice" 4 moirai-check odd.sol
{ cat two.sol; echo 'r_2000000000_3_1 1'; } >odd.sol
exits "too many copies" 4 moirai-check odd.sol
ok "are refused" grep -q 'more copies than devices' out
{ cat two.sol; echo 'r_1_99_1 1'; } >odd.sol
exits "an op that there is not" 4 moirai-check odd.sol
sed 's/^w .*/w 40/; s/^# Objective value = .*/# Objective value = 40/' two.sol \
    >odd.sol
exits "a period that is less" 4 moirai-check odd.sol

complains "several copies are run one by one" 2 "choose one with --copy 1" \
    moirai-exec -q two.sol
exits "one of them" 0 moirai-exec -q --random-weights 1 --dry-run --copy 2 two.sol
complains "no such copy" 2 "there are 2 copies" moirai-exec --copy 3 two.sol
# A stream of requests: each has the outputs of one pipeline.
cp "$top_srcdir"/examples/residual/* .
$place --replicas 2 -o copies.sol model.onnx >/dev/null
$place -o pipeline.sol model.onnx >/dev/null
exits "requests to all copies" 0 moirai-exec -q --requests 60 -o many \
    --json copies.sol
is "all are done" "$(sed -n 's/^  "completed": \([0-9]*\).*/\1/p' out)" 60
is "by two copies" "$(grep -c '^    {"completed"' out)" 2
exits "requests to a pipeline" 0 moirai-exec -q --requests 60 -o few \
    pipeline.sol
exits "have the same outputs" 0 diff -r many few
complains "copies take no batches" 2 "choose one with --copy 1" moirai-exec \
    -q --random-weights 1 --requests 4 --batch 2 copies.sol
complains "nor other shapes" 2 "choose one with --copy 1" moirai-exec -q \
    --random-weights 1 --requests 4 --shapes-max 1 copies.sol
for _ in 1 2 3 4 5 6 7 8 9; do cat input0.npy; done >in.bin
exits "a stream" 0 sh -c \
    "moirai-exec -q --inputs - --output - copies.sol <in.bin >copies.bin"
moirai-exec -q --inputs - --output - pipeline.sol <in.bin >pipeline.bin
ok "comes in order" cmp copies.bin pipeline.bin
mkdir -p ins/0000 ins/0001 ins/0002
cp input0.npy ins/0000
cp input0.npy ins/0002
echo junk >ins/0001/input0.npy
exits "a request that fails" 1 moirai-exec -q --inputs ins -o some copies.sol
is "stops no other" "$(echo some/*/output0.npy)" \
    "some/0000/output0.npy some/0002/output0.npy"
complains "a plan of all copies" 2 "choose one with --copy" \
    moirai-exec -q --requests 3 --plan plan.json copies.sol

exits "a report of one" 0 moirai-report --no-compare --no-ablation --copy 1 two.sol
complains "a report of all" 2 "choose one with --copy 1" moirai-report two.sol

exits "information" 0 moirai-info two.sol
ok "counts the copies" grep -q '^copies *2, ops are those of the first$' out
complains "several copies are not re-planned" 1 "has 2 copies" \
    $place --from two.sol $net
complains "no number" 2 "is no number of copies" $place --replicas 0 $net
complains "more than devices" 2 "more than there are devices" \
    $place --replicas 3 $net
complains "one request" 2 "add --objective period" \
    moirai-place -q --replicas auto $net
complains "in flight" 2 "does not go with --in-flight" \
    $place --replicas auto --in-flight 3 $net
complains "re-planning" 2 "--replicas and --from" \
    $place --replicas auto --from one.sol $net

done_testing
