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

# two_ranks ARG...: moirai-exec in two processes, connected by TCP.
two_ranks()
{
    next_port
    moirai-exec --transport tcp --ranks 2 --rank 1 --master "127.0.0.1:$port" \
        "$@" &
    timeout 60 moirai-exec --transport tcp --ranks 2 --rank 0 \
        --master "127.0.0.1:$port" "$@" && wait $!
}

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
exits "a plan of all copies" 0 \
    moirai-exec -q --requests 3 --plan plan.json copies.sol
ok "has them as phases" grep -q '"name": "copy 2"' plan.json
exits "a single request" 0 moirai-exec -o single copies.sol
ok "runs on the copy that has it first" \
    grep -q 'copy 1 of 2 runs; --requests is for all copies' err
ok "with the outputs of others" diff -r single many/0000
# The last of a few requests do not wait for the slow device.
sed '/"slow"/s/gflops="[0-9]*"/gflops="0.001"/' model.cluster.xml \
    >slow.cluster.xml
$place --replicas 2 -c slow.cluster.xml -o slow.sol model.onnx >/dev/null
moirai-exec -q --requests 5 --json slow.sol >out
is "a slow copy gets none of few requests" \
    "$(grep -c '{"completed": 0, "in_flight": 2,' out)" 1

# Both copies in one job of two ranks.
exits "two ranks" 0 two_ranks -q --requests 60 -o ranks --json copies.sol
is "have all requests" "$(sed -n 's/^  "completed": \([0-9]*\).*/\1/p' out)" 60
ok "with the same outputs" diff -r many ranks
for run in 1 2 3 4 5 6; do
    for _ in 1 2 3 4; do cat in.bin; done |
        moirai-exec -q --inputs - --output - copies.sol 2>pipe.$run |
        head -c 50 >/dev/null
done
is "a closed output is the cause in each run" \
    "$(cat pipe.? | grep -c 'standard output: cannot write: Broken pipe')" 6

mkdir packed
exits "a bundle" 0 moirai-exec -q --bundle packed/all.tar copies.sol
exits "runs" 0 moirai-exec -q --requests 60 -o unpacked --json packed/all.tar
is "both copies" "$(grep -c '^    {"completed"' out)" 2
ok "to the same outputs" diff -r many unpacked

exits "a report of one" 0 moirai-report --no-compare --no-ablation --copy 1 two.sol
exits "a report of all" 0 moirai-report two.sol
is "has the steady state of each" \
    "$(grep -c '^2 copies .* 48.125 us together; this is copy [12] of' out)" 2
ok "with the devices of each" grep -q '^device B .* 100.0 %  the bottleneck' out
exits "a page of all" 0 moirai-report --format json two.sol
ok "has the period of all" \
    grep -q '"copies": {"placements": 2, "objective_us": 48.125}' out
complains "beside another solution" 2 "report it alone" \
    moirai-report two.sol one.sol

exits "information" 0 moirai-info two.sol
ok "counts the copies" grep -q '^copies *2, ops are those of the first$' out
complains "several copies are not re-planned" 1 "has 2 copies" \
    $place --from two.sol $net
complains "a model of several copies" 2 "a model has one copy" \
    moirai-emit -q --objective period --replicas 2 $net
complains "no number" 2 "is no number of copies" $place --replicas 0 $net
complains "more than devices" 2 "more than there are devices" \
    $place --replicas 3 $net
complains "one request" 2 "add --objective period" \
    moirai-place -q --replicas auto $net
# A limit in flight, and live memory, are those of each copy.
exits "one in flight in each" 0 $place --replicas 2 --in-flight 1 -o limit.sol \
    $net
exits "is valid" 0 moirai-check --json limit.sol
is "and as fast as found" "$(key period_us)" 48.125
exits "with live memory" 0 $place --replicas 2 --memory live -o live.sol $net
exits "too" 0 moirai-check live.sol
complains "re-planning" 2 "--replicas and --from" \
    $place --replicas auto --from one.sol $net

done_testing
