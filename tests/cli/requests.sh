#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers
# Tests of moirai-exec --requests: any placement, any number of requests in
# flight: the outputs of single runs, in order; folders of inputs, failing ones,
# the report, memory, and errors.
. "${top_srcdir:=.}/tests/support/tap.sh"

unset MOIRAI_CLUSTER MOIRAI_PATH MOIRAI_TRANSPORT
MOIRAI_CUDA=
export MOIRAI_CUDA
work=$(cd "$work" && pwd -P)
cp -R "$top_srcdir/examples/two_branches" "$work/net"
chmod -R u+w "$work/net"
net=$work/net/model.xml
in=$work/net/input0.npy
sol=$work/net/model.sol
python=${MOIRAI_PYTHON:-python3}
moirai-place -q --time 2 "$net" -o "$sol" >/dev/null

value()
{
    sed -n "s/^  \"$1\": \(.*[^,]\),*\$/\1/p" "$work/out"
}

# outputs

# Seed: a random placement on both devices.
scatter()
{
    moirai-check --json "$sol" | "$python" -c 'import json, random, sys
random.seed(int(sys.argv[1]))
for op in json.load(sys.stdin)["placement"]:
    print(op, random.choice(["fast", "slow"]))' "$1"
}

n=12
r=0
mkdir "$work/single"
while [ $r -lt $n ]; do
    moirai-exec -q --seed $r -o "$work/single/$r" "$net" >/dev/null 2>&1
    r=$((r + 1))
done

# Prints the requests in the folder whose outputs are not those of single runs.
different()
{
    for folder in "$1"/*; do
        r=$(basename "$folder" | sed 's/^0*\(.\)/\1/')
        cmp -s "$folder/output0.npy" "$work/single/$r/output0.npy" || echo "$r"
    done
}

for k in 1 2 3 4 5; do
    scatter $k >"$work/placement"
    rm -rf "$work/many"
    exits "$k in flight" 0 moirai-exec -q --graph "$net" --requests $n \
        --in-flight $k -o "$work/many" "$work/placement"
    is "all have outputs" "$(find "$work/many" -name output0.npy | wc -l)" $n
    is "which are those of single runs" "$(different "$work/many")" ""
done
exits "one request" 0 moirai-exec -q --requests 1 --in-flight 5 "$sol"
exits "on one device" 0 moirai-exec -q --requests 5 -o "$work/alone" "$net"
is "the same outputs" "$(different "$work/alone")" ""
exits "as many in flight as the period needs" 0 \
    moirai-exec --json --requests 5 "$sol"
ok "are more than one" test "$(value in_flight)" -gt 1
for k in 1 2; do
    moirai-place -q --time 2 --objective period --in-flight $k "$net" \
        -o "$work/net/limit.sol" >/dev/null
    exits "a placement for at most $k in flight" 0 \
        moirai-exec --json --requests 5 "$work/net/limit.sol"
    ok "has no more" test "$(value in_flight)" -le $k
    is "and no line about it" "$(grep 'was made for' "$work/err")" ""
done
exits "but with --in-flight" 0 \
    moirai-exec --json --requests 5 --in-flight 4 "$work/net/limit.sol"
is "those" "$(value in_flight)" 4
is "with a line: more" "$(grep -c 'was made for 2 requests in flight, and this run has 4: .* more memory$' "$work/err")" 1
exits "fewer" 0 moirai-exec --json --requests 5 --in-flight 1 \
    "$work/net/limit.sol"
is "are a longer period" "$(grep -c 'was made for 2 requests in flight, and this run has 1: the period ' "$work/err")" 1

# inputs

mkdir "$work/in" "$work/in/0000" "$work/in/0002" "$work/in/0004"
cp "$in" "$work/in/0000/image.npy"
cp "$in" "$work/in/0002/input0.npy"
echo broken >"$work/in/0004/image.npy"
mkdir -p "$work/some/0001" "$work/some/0002" "$work/some/0005"
echo stale | tee "$work/some/0001/output0.npy" "$work/some/0002/output0.npy" \
    >"$work/some/0005/output0.npy"
complains "outputs of another run that this one does not replace" 2 \
    "some: has outputs of an earlier run in 0005, which this one may not" \
    moirai-exec --json --inputs "$work/in" -o "$work/some" "$sol"
is "stay" "$(cat "$work/some/0005/output0.npy" "$work/some/0001/output0.npy" |
    tr '\n' ' ')" "stale stale "
mv "$work/some/0005/output0.npy" "$work/some/0002/output1.npy"
complains "also one more of a request" 2 "outputs of an earlier run in 0002" \
    moirai-exec --json --inputs "$work/in" -o "$work/some" "$sol"
mv "$work/some/0002/output1.npy" "$work/some/0005/other.npy"
exits "a folder of inputs, some missing" 1 \
    moirai-exec --json --inputs "$work/in" -o "$work/some" "$sol"
is "two are completed" "$(value completed)" 2
is "of as many as there are folders" "$(value requests)" 5
is "each failure has a line" "$(grep -c '^moirai-exec: request' "$work/err")" 3
ok "that names the file" grep -q \
    "request 4: $work/in/0004/image.npy: is no .npy file" "$work/err"
is "and is in the report" "$(grep -c '"reason":' "$work/out")" 3
is "what is no output stays" "$(cat "$work/some/0005/other.npy")" stale
rm -r "$work/some/0005"
is "the others have outputs, those of an earlier run are gone" "$(cd "$work/some" && find . -name '*.npy' |
    sort | tr '\n' ' ')" "./0000/output0.npy ./0002/output0.npy "
ok "of the framework" moirai-exec -q -i "$in" --reference "$work/some/0002" \
    --tolerance 0 "$sol"
mkdir -p "$work/again/0000" "$work/again/0001"
ln -s "$work/some/0002/output0.npy" "$work/again/0001/image.npy"
cp "$in" "$work/again/0000/image.npy"
complains "outputs of an earlier run that are inputs" 2 \
    "would replace $work/again/0001/image.npy, which is read" moirai-exec -q \
    --inputs "$work/again" --requests 3 -o "$work/some" "$sol"
ok "they stay" test -s "$work/some/0002/output0.npy"
cp "$in" "$work/in/image.npy"
exits "one set for all" 1 moirai-exec --json --inputs "$work/in" "$sol"
is "fills the gaps" "$(value completed)" 4
mkdir "$work/set"
cp "$in" "$work/set"
exits "one set without folders" 0 \
    moirai-exec --json --inputs "$work/set" --requests 3 "$sol"
is "is for all" "$(value completed)" 3

# standard input and output

# Arrays of requests, one after the other: FIRST LAST.
arrays()
{
    "$python" -c 'import sys
for r in range(int(sys.argv[2]), int(sys.argv[3]) + 1):
    with open("%s/%d.npy" % (sys.argv[1], r), "rb") as f:
        sys.stdout.buffer.write(f.read())' "$work/arrays" "$1" "$2"
}

# Writes the outputs in a stream as folders, and prints the number of arrays.
unpack()
{
    "$python" -c 'import os, sys
from numpy import load
with open(sys.argv[1], "rb") as f:
    end, at, r = os.path.getsize(sys.argv[1]), 0, 0
    while at < end:
        a, to = load(f), f.tell()
        if a.shape != (0,):
            os.makedirs("%s/%d" % (sys.argv[2], r))
            f.seek(at)
            open("%s/%d/output0.npy" % (sys.argv[2], r), "wb").write(
                f.read(to - at))
        at, r = to, r + 1
print(r)' "$1" "$2"
}

if "$python" -c 'import numpy' 2>/dev/null; then
    "$python" -c 'import os, sys, numpy
x = numpy.load(sys.argv[2])
os.makedirs(sys.argv[1])
for r in range(12):
    numpy.save("%s/%d.npy" % (sys.argv[1], r), x + numpy.float32(r))' \
        "$work/arrays" "$in"
    rm -rf "$work/single"
    mkdir "$work/single"
    r=0
    while [ $r -lt $n ]; do
        moirai-exec -q -i "$work/arrays/$r.npy" -o "$work/single/$r" "$sol" \
            >/dev/null
        r=$((r + 1))
    done
    arrays 0 11 >"$work/stream"
    moirai-exec -q --in-flight 3 --inputs - -o - --report "$work/rep" --json \
        "$sol" <"$work/stream" >"$work/answers"
    is "a stream" $? 0
    is "has an array for each request" \
        "$(unpack "$work/answers" "$work/answered")" 12
    is "the outputs of single runs" "$(different "$work/answered")" ""
    ok "and a report of its own" grep -q '"completed": 12' "$work/rep"
    arrays 0 11 | moirai-exec -q --in-flight 2 --inputs - -o - "$sol" |
        (sleep 1 && cat >"$work/late")
    ok "a slow reader gets the same" cmp "$work/late" "$work/answers"
    moirai-exec -q --inputs - --requests 5 -o - "$sol" <"$work/stream" \
        >"$work/five"
    is "no more than asked for" "$(unpack "$work/five" "$work/fives")" 5

    # Without a reader no more is read than 2 K outputs and K requests need,
    # and what fits into the pipe.
    mkfifo "$work/to" "$work/from"
    moirai-exec -q --in-flight 2 --inputs - -o - "$sol" <"$work/to" \
        >"$work/from" 2>/dev/null &
    pid=$!
    "$python" -c 'import os, select, sys
to, by = os.open(sys.argv[1], os.O_WRONLY), os.open(sys.argv[2], os.O_RDONLY)
os.set_blocking(to, False)
data, size = open(sys.argv[3], "rb").read() * 2000, 0
while select.select([], [to], [], 2)[1] and size < len(data):
    size += os.write(to, data[size:size + 65536])
print(size < len(data))
data = data[:size + (-size) % (len(data) // 24000)][size:]
os.set_blocking(to, True)
if os.fork() == 0:
    os.write(to, data)
    os._exit(0)
os.close(to)
while os.read(by, 1 << 20):
    pass' "$work/to" "$work/from" "$work/stream" >"$work/stopped"
    wait $pid
    is "all that was accepted is done" $? 0
    is "the intake stops" "$(cat "$work/stopped")" True

    # An array of another shape, then a stream that is cut.
    {
        arrays 0 0
        "$python" -c 'import sys
from numpy import save, zeros
save(sys.stdout.buffer, zeros((3, 5)))'
        arrays 2 3 | head -c -40
    } >"$work/bad"
    moirai-exec -q --inputs - -o - "$sol" <"$work/bad" >"$work/part" \
        2>"$work/err"
    is "wrong arrays" $? 1
    ok "are named" grep -q \
        "request 1: standard input: is f64\[3,5\], but input 'image' is" \
        "$work/err"
    ok "so is a stream that ends too early" grep -q \
        "request 3: standard input: ends within an array" "$work/err"
    is "each has an array" "$(unpack "$work/part" "$work/parts")" 4
    is "the others their outputs" "$(cd "$work/parts" && echo *)" "0 2"
    is "which are right" "$(different "$work/parts")" ""
    echo nonsense >"$work/bad"
    moirai-exec -q --inputs - "$sol" <"$work/bad" 2>"$work/err" >/dev/null
    is "no arrays at all" $? 1
    ok "is a failure" grep -q "is no stream of .npy arrays" "$work/err"
    moirai-exec -q --requests 100000 -o - "$sol" 2>"$work/err" | head -c 1000 \
        >"$work/head"
    ok "a reader that goes away ends it" grep -q \
        "^moirai-exec: standard output: cannot write: Broken pipe" "$work/err"
else
    skip "streams" "there is no numpy"
fi
moirai-exec --json --inputs - "$sol" </dev/null >"$work/out"
is "no requests at all" $? 0
is "is none" "$(value requests)" 0
complains "nothing to read" 2 "has nothing to read" moirai-exec --inputs - \
    -i "$in" "$sol"

# signals

# NAME ARG...: starts moirai-exec with the arguments, whose process is $pid, and
# waits until 3 requests have outputs in the folder NAME.
begin()
{
    folder=$work/$1
    shift
    env --default-signal=TERM moirai-exec --in-flight 2 -o "$folder" "$@" \
        >"$work/out" 2>"$work/err" &
    pid=$!
    while [ ! -e "$folder/0002/output0.npy" ] && kill -0 $pid 2>/dev/null; do
        sleep 0.05
    done
}
mkdir -p "$work/cut/0003" "$work/cut/99999"
echo stale | tee "$work/cut/0003/output0.npy" >"$work/cut/99999/output0.npy"
begin cut --json --requests 100000 "$sol"
kill -TERM $pid
wait $pid
is "SIGTERM ends requests" $? 143
n=$(value requests)
ok "with a report" test "$n" -ge 3
is "of all that were accepted" "$(value completed)" "$n"
is "and the reason" "$(value stopped_by)" '"SIGTERM"'
is "those have outputs, and no others" \
    "$(find "$work/cut" -name output0.npy | wc -l)" "$n"
is "no temporary file is left" \
    "$(find "$work/cut" -type f ! -name output0.npy)" ""
ok "those in flight are named" grep -q \
    '^moirai-exec: SIGTERM: no more requests are accepted; request.* in flight' \
    "$work/err"
begin text --requests 100000 "$sol"
kill -TERM $pid
wait $pid
ok "the reason as text" grep -q '^stopped     by SIGTERM$' "$work/out"

# A second signal, while slow requests are completed.
cat >"$work/slow.graphml" <<'EOF'
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="t" for="node" attr.name="type" attr.type="string"/>
<key id="s" for="node" attr.name="shape" attr.type="string"/>
<key id="d" for="node" attr.name="dtype" attr.type="string"/>
<key id="p" for="edge" attr.name="dst_port" attr.type="int"/>
<graph edgedefault="directed">
<node id="x"><data key="t">Parameter</data><data key="s">2000,2000</data><data key="d">f32</data></node>
<node id="y"><data key="t">MatMul</data><data key="s">2000,2000</data><data key="d">f32</data></node>
<edge source="x" target="y"><data key="p">0</data></edge>
<edge source="x" target="y"><data key="p">1</data></edge>
</graph></graphml>
EOF
env --default-signal=TERM moirai-exec -q --requests 100 --in-flight 16 \
    -o "$work/twice" "$work/slow.graphml" >"$work/out" 2>"$work/err" &
pid=$!
while [ ! -e "$work/twice/0000/output0.npy" ] && kill -0 $pid; do
    sleep 0.05
done
kill -TERM $pid
while ! grep -q 'no more requests' "$work/err" && kill -0 $pid; do
    sleep 0.05
done
kill -TERM $pid
wait $pid
is "a second signal ends it" $? 143
ok "what has no outputs is named" grep -q \
    '^moirai-exec: SIGTERM: requests* [0-9].* without outputs$' "$work/err"
is "nothing incomplete is left" \
    "$(find "$work/twice" -type f ! -name output0.npy)" ""

# Two signals when all outputs are written: the report, to a full pipe, follows.
mkfifo "$work/pipe"
exec 5<>"$work/pipe"
"$python" -c 'import os
os.set_blocking(5, False)
try:
    while os.write(5, b"x" * 4096):
        pass
except BlockingIOError:
    os.set_blocking(5, True)'
env --default-signal=TERM moirai-exec --json --requests 3 -o "$work/last" \
    --report "$work/pipe" "$sol" >/dev/null 2>"$work/err" &
pid=$!
while [ ! -e "$work/last/0002/output0.npy" ] && kill -0 $pid; do
    sleep 0.05
done
sleep 1
kill -TERM $pid
sleep 0.5
kill -TERM $pid
while ! grep -q 'the report follows' "$work/err" && kill -0 $pid 2>/dev/null; do
    sleep 0.05
done
"$python" -c 'import os, select
while select.select([5], [], [], 2)[0]:
    os.write(1, os.read(5, 65536))' | tr -d x >"$work/out"
wait $pid
is "two signals after the last output" $? 0
exec 5<&-
is "all is reported" "$(value completed)" 3

# Nothing more is read from a stream that stands still.
if "$python" -c 'import numpy' 2>/dev/null; then
    mkfifo "$work/still"
    env --default-signal=TERM moirai-exec --json --inputs - -o "$work/stand" \
        "$sol" <"$work/still" >"$work/out" 2>"$work/err" &
    pid=$!
    exec 4>"$work/still"
    arrays 0 2 >&4
    arrays 3 3 | head -c 100 >&4
    while [ ! -e "$work/stand/0002/output0.npy" ]; do
        sleep 0.05
    done
    kill -TERM $pid
    wait $pid
    is "a stream that stands still" $? 143
    exec 4>&-
    is "has the outputs of what was whole" "$(value completed)" 3
    is "which alone were accepted" "$(value requests)" 3
    moirai-exec -q --inputs - -o "$work/stand" "$sol" </dev/null \
        2>"$work/err" >/dev/null
    is "a stream in the folder of another" $? 2
    ok "is refused" grep -q "stand: has outputs of an earlier run in 0000" \
        "$work/err"
fi

# folders

: >"$work/file"
complains "outputs into a file" 1 "file: is no folder; name another one" \
    moirai-exec -q --requests 3 -o "$work/file" "$sol"
complains "also of single runs" 1 "file: is no folder; name another one" \
    moirai-exec -q -o "$work/file" "$sol"
if [ -d /proc/self ]; then
    complains "a folder that takes none" 1 \
        "moirai-exec: /proc/self: cannot write into the folder: " \
        moirai-exec -q --requests 3 -o /proc/self "$sol"
fi
complains "a report that cannot be written" 1 "missing/report: cannot create" \
    moirai-exec -q --requests 3 -o "$work/never" --report \
    "$work/missing/report" "$sol"
ok "is found out before any output" test ! -e "$work/never"
if [ -c /dev/full ]; then
    exits "a report into a full device" 1 \
        moirai-exec -q --json --requests 3 --report /dev/full "$sol"
    is "goes to standard output" "$(value completed)" 3
fi

# A second process: it writes nothing into the folder of the first.
begin shared --json --requests 100000 "$sol"
complains "a folder in use" 1 "shared: is written by another process" \
    moirai-exec -q --requests 100000 -o "$work/shared" "$sol"
ln -s shared "$work/alias"
complains "by another name" 1 "alias: is written by another process" \
    moirai-exec -q --requests 100000 -o "$work/alias" "$sol"
kill -TERM $pid
wait $pid
rm -r "$work/shared"
exits "a folder that is used again" 0 \
    moirai-exec -q --requests 2 -o "$work/shared" "$sol"
exits "and again" 0 moirai-exec -q --requests 2 -o "$work/shared" "$sol"

# report

exits "a report" 0 moirai-exec --requests 20 --in-flight 4 \
    --plan "$work/plan.json" "$sol"
for line in 'predicted   .* a request' 'measured    .* a request' \
    'throughput  .* requests/s' 'latency     p50 .*, p95 .*, p99 ' \
    'requests    20 of 20 done, 4 in flight' \
    'bottleneck  .*; predicted device fast' \
    'device slow .*[0-9] %' 'in-port slow .* - .*%' \
    'fast .* values 4 times .* allocated 4 times '; do
    ok "has $line" grep -q "^$line" "$work/out"
done
ok "and a plan" test -s "$work/plan.json"
exits "as JSON" 0 moirai-exec --json --requests 9 --congestion channel "$sol"
ok "is JSON" "$python" -c 'import json, sys
t = json.load(open(sys.argv[1]))
loads = [r["predicted_us"] for r in t["resources"]]
assert max(loads) == t["predicted_period_us"]
assert t["p50_us"] <= t["p95_us"] <= t["p99_us"]
assert any(r["kind"] == "channel" for r in t["resources"])
for d in t["by_device"]:
    assert d["slot_bytes"] == d["planned_slot_bytes"] > 0' "$work/out"
sed 's/<cluster/& host_request_us="90000" host_transfer_us="5"/' \
    "$work/net/model.cluster.xml" >"$work/host.xml"
moirai-place -q --time 1 --objective period -c "$work/host.xml" "$net" \
    -o "$work/host.sol" >/dev/null
exits "with the time of the host" 0 moirai-exec -c "$work/host.xml" \
    --graph "$net" --requests 3 "$work/host.sol"
ok "which is a resource" grep -q '^host .* 90[.0-9]* ms .* - ' "$work/out"
ok "and the bottleneck" grep -q '^bottleneck .*predicted host$' "$work/out"

# Without a request nothing is utilized.
exits "no request" 0 moirai-exec --inputs - -o "$work/nothing" "$sol"
ok "has no utilization" grep -q '^device fast .* -  *-$' "$work/out"
exits "as JSON" 0 moirai-exec --json --inputs - -o "$work/nothing" "$sol"
ok "neither" sh -c '! grep -q utilization "$1"' sh "$work/out"

# memory, errors

exits "what one request needs" 0 moirai-exec --json --requests 1 \
    --in-flight 1 "$sol"
sed 's/memory_gib="1"/memory_bytes="9000000"/' \
    "$work/net/model.cluster.xml" >"$work/small.xml"
moirai-place -q --time 2 -c "$work/small.xml" "$net" -o "$work/small.sol" \
    >/dev/null
exits "fits" 0 moirai-exec -q -c "$work/small.xml" --graph "$net" \
    --requests 3 --in-flight 1 "$work/small.sol"
complains "and fifty do not" 1 "lower --in-flight" \
    moirai-exec -q -c "$work/small.xml" --graph "$net" --requests 3 \
    --in-flight 50 -o "$work/never" "$work/small.sol"
ok "before anything starts" test ! -e "$work/never"

# With BYTES of memory on each device: all on one.
scatter 1 | sed 's/slow/fast/' >"$work/one"
within()
{
    sed "s/memory_gib=\"1\"/memory_bytes=\"$1\"/" \
        "$work/net/model.cluster.xml" >"$work/tight.xml"
    shift
    moirai-exec --json -c "$work/tight.xml" --graph "$net" "$@" "$work/one"
}
complains "what calls work in" 1 "to work in, and has 600000; " \
    within 600000 -q --requests 3 --in-flight 2
need=$(($(sed 's/.*needs \([0-9]*\) for values, \([0-9]*\) for weights and \([0-9]*\) to work.*/\1 + \2 + \3/' "$work/err")))
exits "counts when the number in flight is chosen" 0 within $need --requests 3
is "as many as fit" "$(value in_flight)" 2
exits "into a byte less" 0 within $((need - 1)) --requests 3
is "are one less" "$(value in_flight)" 1
exits "in single runs, too" 0 within $need

# Prints the bytes allocated for weights, in percent of all weights.
allocated_weights()
{
    "$python" -c 'import json, sys
d = json.load(open(sys.argv[1]))["by_device"][0]
rest = d["allocated_bytes"] - d["value_bytes"] - d["workspace_bytes"]
print(100 * rest // d["weight_bytes"])' "$work/out"
}
# BLAS, which takes the place of generic micro-kernels, reads weights in the
# mapped file; without it all products pack them, on any processor.
MOIRAI_ABLATE=blas
export MOIRAI_ABLATE
exits "in micro-kernels alone" 0 within $need
ok "packed weights are allocated" test "$(allocated_weights)" -ge 90
MOIRAI_ABLATE=packed_weights
exits "without packing" 0 within $need
is "none are" "$(allocated_weights)" 0
unset MOIRAI_ABLATE

complains "runs and requests" 2 "--runs is for single runs" \
    moirai-exec --runs 3 --requests 4 "$sol"
complains "how many there are" 2 "--in-flight goes with --requests" \
    moirai-exec --in-flight 4 "$sol"
complains "no folders" 2 "has no folders 0000" \
    moirai-exec --inputs "$work/set" "$sol"
complains "no folder" 1 "none: cannot open" \
    moirai-exec --inputs "$work/none" "$sol"
complains "a folder that cannot be made" 1 "cannot make the folder" \
    moirai-exec -q --requests 2 -o "$work/no/such" "$sol"
mkdir -p "$work/chain/0000"
sed 's/"image"/"output0"/' "$net" >"$work/net/chain.xml"
cp "$in" "$work/chain/0000/output0.npy"
complains "outputs in the place of inputs" 2 "would replace the inputs" \
    moirai-exec -q --random-weights 1 --inputs "$work/chain" \
    -o "$work/chain/." "$work/net/chain.xml"
mkdir "$work/linked"
ln -s ../chain/0000 "$work/linked/0000"
complains "by a link" 2 "$work/linked/0000: is a link" moirai-exec -q \
    --random-weights 1 --inputs "$work/chain" -o "$work/linked" \
    "$work/net/chain.xml"
ok "which leaves them" cmp "$in" "$work/chain/0000/output0.npy"
cp "$in" "$work/chain/0000/image.npy"
rm "$work/chain/0000/output0.npy"
exits "beside them" 0 moirai-exec -q --inputs "$work/chain" -o "$work/chain" \
    "$sol"
ok "they are as they were" cmp "$in" "$work/chain/0000/image.npy"

# profiles with requests in flight

flight()
{
    moirai-profile run -q --runs 1 -c "$work/net/model.cluster.xml" \
        -o "$work/flight.xml" "$@" "$net"
}
exits "with requests in flight" 0 flight --in-flight 3
ok "the profile records it" grep -q '<profile.* in_flight="3"' \
    "$work/flight.xml"
ok "with the overhead of transfers" grep -q '<profile.* overhead_us="[0-9]' \
    "$work/flight.xml"
ok "for a period" moirai-place -q --time 1 --objective period \
    -c "$work/net/model.cluster.xml" -p "$work/flight.xml" -o "$work/flight.sol" \
    "$net"
complains "others need another file" 1 \
    "was measured with --in-flight 3, not 0; name another file" flight
done_testing
