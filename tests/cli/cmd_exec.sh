#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests of moirai-exec: a network, unplaced and placed, has the outputs of the
# framework; files that are written, and errors.
. "${top_srcdir:=.}/tests/support/tap.sh"

unset MOIRAI_CLUSTER MOIRAI_PATH MOIRAI_TRANSPORT
# GPU devices, too, run on the CPU here.
MOIRAI_CUDA=
export MOIRAI_CUDA
work=$(cd "$work" && pwd -P)
cp -R "$top_srcdir/examples/two_branches" "$work/net"
chmod -R u+w "$work/net"
net=$work/net/model.xml
in=$work/net/input0.npy
sol=$work/net/model.sol
python=${MOIRAI_PYTHON:-python3}

value()
{
    sed -n "s/^  \"$1\": \(.*[^,]\),*\$/\1/p" "$work/out"
}

is_json()
{
    "$python" -c 'import json,sys; json.load(open(sys.argv[1]))' "$1"
}

# unplaced

# Whether there is a processor for each thread depends on the machine.
other_errors()
{
    sed '/they take turns/d' "$work/err"
}

exits "a graph" 0 moirai-exec -i "$in" --reference "$work/net" "$net"
ok "puts out what the framework does" grep -q '^equal to' "$work/out"
is "without a message" "$(other_errors)" ""
exits "its input by name" 0 \
    moirai-exec -i "image=$in" --reference "$work/net" "$net"
exits "by number" 0 moirai-exec --input="0=$in" --reference "$work/net" "$net"
exits "every call by itself" 0 \
    moirai-exec --no-fuse --no-layout -i "$in" --reference "$work/net" "$net"
exits "another input" 4 moirai-exec --seed 3 --reference "$work/net" "$net"
ok "puts out something else" \
    grep -q "output 0 '.*' differs from .*: element [0-9]* is .*, not " \
    "$work/err"
ok "and the report is there" grep -q '^DIFFERS from' "$work/out"
exits "within a given tolerance" 0 \
    moirai-exec --seed 3 --tolerance 100 --reference "$work/net" "$net"
ok "without a prediction, on a device of unknown speed" \
    grep -q '^predicted   unknown: no times of these devices' "$work/out"
exits "not coarsened" 0 \
    moirai-exec --fusion none -i "$in" --reference "$work/net" "$net"
exits "with given numbers of threads" 0 \
    moirai-exec --threads 3 -i "$in" --reference "$work/net" "$net"

# placed

moirai-place -q --time 5 "$net" -o "$sol" >/dev/null
exits "a solution" 0 moirai-exec --json --check -i "$in" \
    --reference "$work/net" "$sol"
ok "is JSON" is_json "$work/out"
is "on two devices" "$(value devices)" 2
ok "with transfers" test "$(value transfers)" -gt 0
ok "and compute the same" "$python" -c \
    'import sys; sys.exit(not float(sys.argv[1]) <= 1e-4)' "$(value max_error)"
is "as each of both references" "$(grep -c '"with": .*"equal": true' \
    "$work/out")" 2
ok "in a time that is measured" test -n "$(value measured_us)"
ok "beside the one predicted" test -n "$(value predicted_us)"

# Places ops alternately on the named devices.
by_turns()
{
    moirai-check --json "$sol" | "$python" -c 'import json,sys
for i, op in enumerate(json.load(sys.stdin)["placement"]):
    print(op, sys.argv[1 + i % (len(sys.argv) - 1)])' "$@"
}

by_turns fast slow >"$work/turns"
exits "ops by turns" 0 moirai-exec --graph "$net" -i "$in" \
    --reference "$work/net" "$work/turns"
exits "from standard input" 0 sh -c "moirai-exec --graph '$net' -i '$in' \
    --reference '$work/net' - <'$work/turns'"
by_turns A B C D >"$work/gpus"
exits "on what are GPUs" 0 moirai-exec -c inter-server --graph "$net" \
    -i "$in" --reference "$work/net" "$work/gpus"
is "that is reported" "$(other_errors | sed "s/CPU's; .*/CPU's/")" \
    "moirai-exec: devices A, B, C, D are run on CPU threads: times are the CPU's"

# what it writes

exits "outputs, trace, plan and report" 0 moirai-exec -i "$in" --runs 2 \
    -o "$work/deep" --trace "$work/trace.json" --plan "$work/plan.json" \
    --report "$work/report" "$sol"
is "nothing else" "$(cat "$work/out"; other_errors)" ""
is "the outputs" "$(ls "$work/deep")" output0.npy
ok "the trace is JSON" is_json "$work/trace.json"
ok "with arrows" grep -q '"ph":"s"' "$work/trace.json"
ok "the plan is JSON" is_json "$work/plan.json"
ok "the report counts runs" grep -q 'median of 2 runs after [0-9]' "$work/report"
exits "outputs are what a reference is" 0 \
    moirai-exec -i "$in" --reference "$work/deep" --tolerance 0 "$sol"
exits "a dry run" 0 moirai-exec --dry-run -o "$work/dry" \
    --trace "$work/dry.json" "$sol"
ok "reports memory" grep -q '^fast .*weights .* values ' "$work/out"
ok "and writes nothing" test ! -e "$work/dry" -a ! -e "$work/dry.json"

# faults

complains "no such input" 2 "names no input" \
    moirai-exec -i nothing="$in" "$net"
complains "an input twice" 2 "given twice" \
    moirai-exec -i "$in" -i "image=$in" "$net"
complains "another shape" 1 "is f32[1,10], but input 'image' is" \
    moirai-exec -i "$work/deep/output0.npy" "$net"
complains "what is no array" 1 "is no .npy file" moirai-exec -i "$net" "$net"
complains "no array at all" 1 "cannot open" moirai-exec -i none.npy "$net"
complains "no reference" 1 "cannot open" \
    moirai-exec -i "$in" --reference "$work/none" "$net"
complains "outputs to standard output" 2 "name a folder" \
    moirai-exec -o - "$net"
complains "nothing to compare" 2 "--dry-run" \
    moirai-exec --dry-run --check "$net"
complains "a report in the place of the graph" 2 "would replace" \
    moirai-exec --report "$net" "$net"
cp -R "$work/net" "$work/kept"
for option in --report --report-html --plan --trace; do
    complains "$option in the place of the graph found" 2 \
        "$option would replace $net, which is read" \
        moirai-exec -i "$in" "$sol" $option "$net"
    complains "$option in that of its weights" 2 "which is read" \
        moirai-exec -i "$in" "$sol" $option "$work/net/model.bin"
    complains "$option in that of an input" 2 "which is read" \
        moirai-exec -i "image=$in" "$sol" $option "$in"
done
cp "$top_srcdir/examples/inception.graphml" \
    "$top_srcdir/examples/inception.cluster.xml" "$work/kept"
moirai-place -q --method single "$work/kept/inception.graphml" \
    -o "$work/kept/lat.sol" >/dev/null
complains "a plan in the place of the cluster found" 2 "which is read" \
    moirai-exec --random-weights 1 --dry-run "$work/kept/lat.sol" \
    --plan "$work/kept/inception.cluster.xml"
ok "the cluster is as it was" cmp "$work/kept/inception.cluster.xml" \
    "$top_srcdir/examples/inception.cluster.xml"
for file in model.xml model.bin input0.npy; do
    ok "$file is as it was" cmp "$work/net/$file" "$work/kept/$file"
done

mkdir "$work/replaced" "$work/replaced/0000"
for file in "$work/replaced/output0.npy" "$work/replaced/0000/output0.npy"; do
    cp "$in" "$file"
done
ln -s replaced/output0.npy "$work/link.npy"
complains "outputs in the place of an input" 2 "would replace" \
    moirai-exec -i "$work/replaced/output0.npy" -o "$work/replaced" "$net"
complains "by another name" 2 "would replace" \
    moirai-exec -i "image=$work/link.npy" -o "$work/replaced/." "$net"
complains "that of a request" 2 "would replace" moirai-exec --requests 2 \
    -i "$work/replaced/0000/output0.npy" -o "$work/replaced" "$net"
ok "and leaves them" cmp "$in" "$work/replaced/output0.npy"
exits "requests have folders of their own" 0 moirai-exec -q --requests 2 \
    -i "$work/replaced/output0.npy" -o "$work/replaced" "$net"
ok "where nothing is read" cmp "$in" "$work/replaced/output0.npy"

# The solution, and the weights of a graph, by the name of an output.
mkdir -p "$work/own/0001"
cat >"$work/own.graphml" <<'EOF'
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="t" for="node" attr.name="type" attr.type="string"/>
<key id="s" for="node" attr.name="shape" attr.type="string"/>
<key id="d" for="node" attr.name="dtype" attr.type="string"/>
<key id="c" for="node" attr.name="constant" attr.type="boolean"/>
<key id="w" for="node" attr.name="weights" attr.type="string"/>
<key id="p" for="edge" attr.name="dst_port" attr.type="int"/>
<graph edgedefault="directed">
<node id="x"><data key="t">Parameter</data><data key="s">4</data><data key="d">f32</data></node>
<node id="w"><data key="t">Const</data><data key="s">4</data><data key="d">f32</data><data key="c">true</data><data key="w">own/0001/output0.npy:0:16:f32:4</data></node>
<node id="y"><data key="t">Add</data><data key="s">4</data><data key="d">f32</data></node>
<edge source="x" target="y"><data key="p">0</data></edge>
<edge source="w" target="y"><data key="p">1</data></edge>
</graph></graphml>
EOF
head -c 16 /dev/zero >"$work/own/0001/output0.npy"
complains "outputs in the place of weights" 2 "own/0001/output0.npy, which is" \
    moirai-exec -q -o "$work/own/0001" "$work/own.graphml"
complains "outputs of requests" 2 "own/0001/output0.npy, which is read" \
    moirai-exec -q --requests 2 -o "$work/own" "$work/own.graphml"
is "leave them" "$(wc -c <"$work/own/0001/output0.npy")" 16
exits "which can be used" 0 moirai-exec -q -o "$work/own/0002" \
    "$work/own.graphml"
cp "$sol" "$work/own/0001/output0.npy"
complains "outputs in the place of the solution" 2 "which is read" \
    moirai-exec -q -g "$net" -o "$work/own/0001" "$work/own/0001/output0.npy"
complains "those of requests" 2 "which is read" moirai-exec -q -g "$net" \
    --requests 2 -o "$work/own" "$work/own/0001/output0.npy"
ok "it is as it was" cmp "$sol" "$work/own/0001/output0.npy"

mkdir "$work/links"
ln -s ../net/input0.npy "$work/links/output0.npy"
exits "an output in the place of a link" 0 \
    moirai-exec -q -i "$in" -o "$work/links" "$net"
ok "replaces the link" test -f "$work/links/output0.npy" -a \
    ! -L "$work/links/output0.npy"
ok "and leaves the input" cmp "$in" "$work/kept/input0.npy"

complains "outputs in the place of the reference" 2 "would replace" \
    moirai-exec -i "$in" -o "$work/net/." --reference "$work/net" "$net"
complains "a report in the place of the reference" 2 "one of the arrays" \
    moirai-exec -i "$in" --reference "$work/net" \
    --report "$work/net/output0.npy" "$net"
mkdir -p "$work/given/0001"
cp "$in" "$work/given/input0.npy"
complains "a trace in the place of inputs of requests" 2 "one of the arrays" \
    moirai-exec --inputs "$work/given" --requests 2 \
    --trace "$work/given/0001/../input0.npy" "$net"
complains "a plan among those of a request" 2 "one of the arrays" \
    moirai-exec --inputs "$work/given" --requests 2 \
    --plan "$work/given/0001/input0.npy" "$net"
ok "and leaves what was there" cmp "$in" "$work/given/input0.npy"

complains "a closed standard output" 1 "standard output" \
    sh -c "exec moirai-exec -q -i '$in' '$net' >&-"

mkdir "$work/bare" "$work/short" "$work/small"
cp "$net" "$work/bare"
complains "no weights" 1 "--random-weights" moirai-exec "$work/bare/model.xml"
exits "made up" 0 \
    moirai-exec --random-weights 1 --check "$work/bare/model.xml"

# a convolution of a constant, whose layout is changed as it runs

head -c 128 /dev/zero >"$work/constant.bin"
cat >"$work/constant.graphml" <<'END'
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="o" for="node" attr.name="op" attr.type="string"/>
  <key id="s" for="node" attr.name="shape" attr.type="string"/>
  <key id="d" for="node" attr.name="dtype" attr.type="string"/>
  <key id="a" for="node" attr.name="attrs" attr.type="string"/>
  <key id="c" for="node" attr.name="constant" attr.type="boolean"/>
  <key id="w" for="node" attr.name="weights" attr.type="string"/>
  <key id="q" for="edge" attr.name="dst_port" attr.type="int"/>
  <graph edgedefault="directed">
    <node id="x"><data key="o">Const</data><data key="s">1,2,4,4</data>
      <data key="d">f32</data><data key="c">true</data>
      <data key="w">constant.bin:0:128:f32:1,2,4,4</data></node>
    <node id="kernel"><data key="o">Parameter</data>
      <data key="s">3,2,3,3</data><data key="d">f32</data>
      <data key="a">{"index": 0}</data></node>
    <node id="conv"><data key="o">Convolution</data>
      <data key="s">1,3,2,2</data><data key="d">f32</data>
      <data key="a">{"strides": [1, 1], "pads_begin": [0, 0],
        "pads_end": [0, 0], "dilations": [1, 1]}</data></node>
    <node id="y"><data key="o">Result</data><data key="s">1,3,2,2</data>
      <data key="d">f32</data><data key="a">{"index": 0}</data></node>
    <edge source="x" target="conv"><data key="q">0</data></edge>
    <edge source="kernel" target="conv"><data key="q">1</data></edge>
    <edge source="conv" target="y"><data key="q">0</data></edge>
  </graph>
</graphml>
END
exits "a constant image" 0 moirai-exec -q --check "$work/constant.graphml"

# a graph without weights: the example of README.md

cp "$top_srcdir"/examples/inception.* "$work/bare"
chmod u+w "$work"/bare/inception.*
inception=$work/bare/inception.graphml
moirai-place -q --time 5 "$inception" -o "$work/bare/job.sol" >/dev/null
for job in "$work/bare/job.sol" "$inception"; do
    complains "no weights in $(basename "$job")" 1 \
        "inception.graphml:27: 6 ops have no weights: 'b1_1x1' (Convolution)" \
        moirai-exec -q "$job"
    ok "tells what to do" \
        grep -q 'run with --random-weights 1 .*moirai-graph(5)' "$work/err"
    exits "random ones" 0 moirai-exec -q --random-weights 1 --check "$job"
    ok "are in the report" \
        grep -q '^weights     random: 6 tensors, 638 KiB' "$work/out"
done
exits "as JSON" 0 moirai-exec -q --json --random-weights 1 "$inception"
is "their number" "$(value random_weights)" 6
is "and bytes" "$(value random_weight_bytes)" 653312
exits "a seed" 0 moirai-exec -q --random-weights 5 -o "$work/five" "$inception"
exits "again" 0 moirai-exec -q --random-weights 5 -o "$work/five2" "$inception"
ok "makes the same weights" cmp "$work/five/output0.npy" \
    "$work/five2/output0.npy"
exits "another" 0 moirai-exec -q --random-weights 6 -o "$work/six" "$inception"
ok "makes others" sh -c "! cmp -s '$work/five/output0.npy' \
    '$work/six/output0.npy'"
# As by hand: no strides, pads nor ports.
sed -e '/key="attrs">{"strides/d' -e 's/<data key="to">[^<]*<.data>//' \
    "$inception" >"$work/bare/plain.graphml"
exits "windows follow from weight_bytes" 0 \
    moirai-exec -q --random-weights 1 "$work/bare/plain.graphml"
ok "and are the same" \
    grep -q '^weights     random: 6 tensors, 638 KiB' "$work/out"
sed 's/<data key="shape">[^<]*<.data>//' "$inception" \
    >"$work/bare/no_shapes.graphml"
complains "no shapes" 1 "15 ops have no fixed shape or no dtype" \
    moirai-exec -q --random-weights 1 "$work/bare/no_shapes.graphml"

cp "$net" "$work/short"
head -c 30000 "$work/net/model.bin" >"$work/short/model.bin"
complains "a file of weights that was cut" 1 "is too short" \
    moirai-exec -o "$work/never" "$work/short/model.xml"
ok "nothing is written" test ! -e "$work/never"
echo '<cluster><device id="c" kind="cpu" gflops="1" memory_bandwidth_gbs="1"
    launch_us="1" memory_bytes="100000"/></cluster>' >"$work/small.xml"
complains "too little memory" 1 "memory" \
    moirai-exec -c "$work/small.xml" "$net"
sed 's/memory_gib="1"/memory_bytes="400000"/' \
    "$work/net/model.cluster.xml" >"$work/tight.xml"
moirai-place -q --memory live -c "$work/tight.xml" "$net" \
    -o "$work/tight.sol" >/dev/null
sed 's/memory_gib="1"/memory_bytes="300000"/' \
    "$work/net/model.cluster.xml" >"$work/values.xml"
sed 's/300000/100000/' "$work/values.xml" >"$work/none.xml"
for cluster in values none; do
    moirai-place -q -c "$work/$cluster.xml" --rounds 1 "$net" \
        -o "$work/$cluster.sol" >/dev/null
    complains "too little for values" 1 "place less there, or give it more" \
        moirai-exec -q -g "$net" -c "$work/$cluster.xml" "$work/$cluster.sol"
    is "live memory is a way out: $cluster" \
        "$(grep -c 'moirai-place --memory live .* a placement that fits$' \
            "$work/err")" "$([ $cluster = values ] && echo 1 || echo 0)"
done
complains "too little to work in" 1 "to work in, and has 400000" \
    moirai-exec -q -c "$work/tight.xml" --graph "$net" "$work/tight.sol"

# OpenBLAS retries a failed allocation forever, in its own threads and in ours.
for kib in 100000 150000 200000; do
    (
        # Shells without ulimit -v run without a limit.
        # shellcheck disable=SC3045
        ulimit -v $kib
        timeout 60 moirai-exec -i "$in" --reference "$work/net" "$net"
    ) >"$work/out" 2>&1
    status=$?
    ok "little memory, $kib KiB, is nothing to wait for" test $status -ne 124
    ok "and changes no result" test $status -ne 4
done

sed 's/threads="1"/cpus="4095"/' "$work/net/model.cluster.xml" >"$work/far.xml"
exits "processors that are not there" 0 moirai-exec -c "$work/far.xml" "$net"
ok "are reported" grep -q 'device fast should run on processor 4095' "$work/err"

# Processors: within the mask of taskset; the two devices have a thread each.
# --pin on, since other tests may hold processors meanwhile.
mask=$(taskset -cp $$ 2>/dev/null | sed 's/.*: //; s/[,-].*//')
second=$(taskset -cp $$ 2>/dev/null | sed -n 's/.*: [0-9]*[,-]\([0-9]*\).*/\1/p')
if [ -n "$second" ]; then
    exits "two processors" 0 taskset -c "$mask,$second" \
        moirai-exec --pin on --runs 2 "$sol"
    ok "are one for each device" sh -c "
        grep -q '^fast .* 1 thread  on processor [0-9]* ' '$work/out' &&
        grep -q '^slow .* 1 thread  on processor [0-9]* ' '$work/out'"
    is "another one" "$(sed -n 's/.* on processor \([0-9]*\) .*/\1/p' \
        "$work/out" | sort -u | wc -l | tr -d ' ')" 2
    exits "none is chosen" 0 taskset -c "$mask,$second" \
        moirai-exec --pin off --json "$sol"
    ok "with --pin off" sh -c "! grep -q '\"cpus\"' '$work/out'"
else
    skip "two processors" "there is one, or no taskset"
fi
if [ -n "$mask" ]; then
    exits "one processor for two devices" 0 taskset -c "$mask" \
        moirai-exec "$sol"
    is "is reported in one line" "$(grep -c "have 2 threads, and this process may \
use 1 processor: they take turns" "$work/err")" 1
    complains "and refused by --pin on" 1 "--pin on: the devices have 2 threads" \
        taskset -c "$mask" moirai-exec -q --pin on "$sol"
    # Each rank has a thread and a processor, the same one.
    next_port
    for rank in 1 0; do
        taskset -c "$mask" timeout 60 moirai-exec --transport tcp --ranks 2 \
            --rank $rank --master "127.0.0.1:$port" "$sol" \
            >"$work/rank.$rank" 2>&1 &
    done
    wait
    ok "so is one for two ranks" grep -q "ranks that share 1 processor with \
rank 0 have 2 threads: they take turns" "$work/rank.0"
    ok "and nothing is pinned" sh -c "! grep -q ' on processor ' '$work/rank.0' &&
        grep -q '^slow .* 1 thread ' '$work/rank.0'"
else
    skip "one processor for two devices" "there is no taskset"
fi

exits "the report in JSON" 0 moirai-exec -q --runs 7 --json "$sol"
ok "has every run, percentiles, transfers and waiting" "$python" -c '
import json, sys
r = json.load(open(sys.argv[1]))
runs = sorted(r["runs_us"])
assert len(runs) == r["runs"] == 7 and r["warm_ups"] >= 5
assert runs[0] == r["min_us"] and runs[3] == r["p50_us"] == r["measured_us"]
assert runs[6] == r["p95_us"] == r["p99_us"]
assert r["predicted_transfer_us"] > 0 and r["measured_transfer_us"] >= 0
assert isinstance(r["quiet"], bool) and 0 <= r["disturbed_runs"] <= 7
assert all(d["wait_us"] >= 0 for d in r["by_device"])
' "$work/out"
exits "the report as text" 0 moirai-exec -q --runs 7 "$sol"
ok "has a row of transfers" \
    grep -q '^transfers  *[0-9][0-9]*  *[0-9.]*  *[0-9.]*$' "$work/out"
ok "percentiles" grep -q '^  min .*, p50 .*, p95 .*, p99 ' "$work/out"
is "and waiting" "$(grep -c '% waiting for a processor$' "$work/out")" 2

sed 's/threads="1"/threads="70000"/' "$work/net/model.cluster.xml" \
    >"$work/many.xml"
exits "more threads than can be" 0 \
    moirai-exec --dry-run -c "$work/many.xml" "$net"
ok "are as many as there can be" grep -q ' 256 threads ' "$work/out"

complains "a solution of another graph" 1 "is another graph" \
    moirai-exec --graph "$top_srcdir/examples/tiny_ir.xml" "$sol"
sed "/^$(sed -n 's/^\(x_3_[01]\) 1$/\1/p' "$sol") /d" "$sol" \
    >"$work/net/broken.sol"
exits "an answer that is none" 4 moirai-exec "$work/net/broken.sol"
ok "is reported" grep -q 'is not a valid solution: ' "$work/err"
is "and not run" "$(cat "$work/out")" ""

# Writes a graph of one op, of this type and with these attributes, and its
# input.
one_op()
{
    cat <<END
<graphml><key id="o" for="node" attr.name="op"/>
<key id="s" for="node" attr.name="shape"/>
<key id="d" for="node" attr.name="dtype"/>
<key id="f" for="node" attr.name="flops"/>
<key id="b" for="node" attr.name="bytes"/>
<key id="p" for="edge" attr.name="dst_port"/><graph edgedefault="directed">
<node id="table"><data key="o">Parameter</data><data key="s">2,3</data>
<data key="d">f32</data></node>
<node id="rows"><data key="o">Parameter</data><data key="s">1,3</data>
<data key="d">i32</data></node>
<node id="it"><data key="o">$1</data><data key="s">1,3</data>
<data key="d">f32</data><data key="f">1</data><data key="b">1</data></node>
<edge source="table" target="it"><data key="p">0</data></edge>
<edge source="rows" target="it"><data key="p">1</data></edge>
</graph></graphml>
END
}

# Bytes of a NumPy file with the rows 1, 9 and 0.
rows()
{
    printf "\\223NUMPY\\1\\0\\72\\0%-57s\\n" \
        "{'descr': '<i4', 'fortran_order': False, 'shape': (1, 3)}"
    printf '\1\0\0\0\11\0\0\0\0\0\0\0'
}

one_op Riddle >"$work/riddle.graphml"
complains "a single unknown op" 1 \
    "riddle.graphml:11: op 'it' (Riddle): there is no such operator" \
    moirai-exec "$work/riddle.graphml"
one_op GatherElements >"$work/pick.graphml"
rows >"$work/rows.npy"
complains "rows that the table has not" 1 "op 'it' (GatherElements): index 9 " \
    moirai-exec -q -i rows="$work/rows.npy" "$work/pick.graphml"

# ranks

. "$top_srcdir/tests/ranks/ranks.sh"

# Each of these would be a token that is easy to guess.
printf 'k\0secret\n' >"$work/bytes"
printf '\nsecret\n' >"$work/later"
complains "a token of bytes" 1 "bytes:1: has a zero byte" \
    moirai-exec --rank 1 --ranks 2 --token-file "$work/bytes" "$sol"
complains "a token in the second line" 1 "later:1: has no token" \
    moirai-exec --rank 1 --ranks 2 --token-file "$work/later" "$sol"
printf ' \t\nsecret\n' >"$work/blank"
complains "a token of blanks" 1 "blank:1: has no token" \
    moirai-exec --rank 1 --ranks 2 --token-file "$work/blank" "$sol"
complains "an empty token" 2 "--token is empty" \
    moirai-exec --rank 1 --ranks 2 --token "" "$sol"
MOIRAI_TOKEN='' complains "an empty variable" 2 "the token is empty" \
    moirai-exec --rank 1 --ranks 2 --transport tcp "$sol"
exits "is nothing to a single process" 0 env MOIRAI_TOKEN= \
    moirai-exec -q --dry-run "$sol"

# What other machines can reach needs a token, whoever started the ranks.
complains "no token between machines" 2 "need a token: make one with" \
    moirai-exec --rank 0 --ranks 2 --transport tcp --master 192.0.2.1 "$sol"
complains "nor at the other end" 2 "--token-file FILE; or use --open" \
    moirai-exec --rank 1 --ranks 2 --transport tcp --master 192.0.2.1 "$sol"
complains "nor at all addresses" 2 "need a token" \
    moirai-exec --rank 0 --ranks 2 --transport tcp --bind 0.0.0.0 "$sol"
complains "nor with the name of a Slurm job" 2 "need a token" \
    env SLURM_STEP_NUM_TASKS=2 SLURM_PROCID=0 SLURM_JOB_ID=7 \
    SLURM_STEP_NODELIST=tau,phi moirai-exec --transport tcp "$sol"
complains "an open job with a token" 2 "leave out one of the two" \
    moirai-exec --rank 0 --ranks 2 --transport tcp --open --token t "$sol"
complains "a certificate without its key" 2 "belong together" \
    moirai-exec --rank 0 --ranks 2 --transport tcp --tls-cert c "$sol"
MOIRAI_PATIENCE=0.1 exits "an open job begins" 1 \
    moirai-exec --rank 0 --ranks 2 --transport tcp --open --bind 0.0.0.0 "$sol"
is "with one line of warning" "$(grep -c 'open: any process .* may join' \
    "$work/err")" 1
echo secret >"$work/token"
chmod 644 "$work/token"
MOIRAI_PATIENCE=0.1 exits "a token that others can read" 1 \
    moirai-exec --rank 0 --ranks 2 --transport tcp \
    --token-file "$work/token" "$sol"
is "is reported" "$(grep -c 'token: other users may read' "$work/err")" 1
chmod 600 "$work/token"
MOIRAI_PATIENCE=0.1 exits "a short token between machines" 1 \
    moirai-exec --rank 0 --ranks 2 --transport tcp --bind 0.0.0.0 \
    --token-file "$work/token" "$sol"
is "too" "$(grep -c 'token has 6 characters' "$work/err")" 1
is "and others cannot read it" "$(grep -c 'other users' "$work/err")" 0

if command -v mpirun >/dev/null && mpirun -n 2 moirai-exec --transport mpi \
    --dry-run "$sol" >/dev/null 2>&1; then
    exits "two ranks" 0 mpirun -n 2 moirai-exec -i "$in" --check \
        --reference "$work/net" "$sol"
    is "one of them prints both results" "$(grep -c '^equal to' "$work/out")" 2
    exits "more devices than ranks" 1 mpirun -n 2 moirai-exec -c inter-server \
        --graph "$net" "$work/gpus"
    ok "are reported" grep -q '4 devices, but there are 2 ranks' "$work/err"
    exits "four of them" 0 mpirun -n 4 moirai-exec -q -c inter-server \
        --graph "$net" -i "$in" --reference "$work/net" "$work/gpus"
else
    skip "ranks" "there is no mpirun, or no MPI in this build"
fi

# outputs that are not finite

cat >"$work/inf.graphml" <<'EOF'
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="t" for="node" attr.name="type" attr.type="string"/>
<key id="s" for="node" attr.name="shape" attr.type="string"/>
<key id="d" for="node" attr.name="dtype" attr.type="string"/>
<key id="a" for="node" attr.name="attrs" attr.type="string"/>
<key id="c" for="node" attr.name="constant" attr.type="boolean"/>
<key id="p" for="edge" attr.name="dst_port" attr.type="int"/>
<graph edgedefault="directed">
<node id="x"><data key="t">Const</data><data key="s">3</data>
<data key="d">f32</data><data key="c">true</data>
<data key="a">{"value":"1,0,2"}</data></node>
<node id="y"><data key="t">Const</data><data key="s">3</data>
<data key="d">f32</data><data key="c">true</data>
<data key="a">{"value":"0,0,1"}</data></node>
<node id="quotient"><data key="t">Divide</data><data key="s">3</data>
<data key="d">f32</data></node>
<edge source="x" target="quotient"><data key="p">0</data></edge>
<edge source="y" target="quotient"><data key="p">1</data></edge>
</graph></graphml>
EOF
exits "infinities and NaN" 0 moirai-exec "$work/inf.graphml"
is "are reported" "$(cat "$work/err")" \
    "moirai-exec: output 'quotient' has 2 of 3 values that are not finite"
exits "of requests" 0 moirai-exec --requests 3 --in-flight 2 "$work/inf.graphml"
is "are reported once" "$(grep finite "$work/err")" \
    "moirai-exec: outputs of 3 of 3 requests have values that are not finite; the first is request 0"

done_testing
