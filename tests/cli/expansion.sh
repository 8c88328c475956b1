#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests of small graphs that describe large tensors: every op that can make its
# result larger than its inputs, inputs, weights and .npy files are refused by
# their sizes, before anything is allocated, with the option that raises the
# limit.
. "${top_srcdir:=.}/tests/support/tap.sh"

unset MOIRAI_CLUSTER MOIRAI_PATH MOIRAI_TRANSPORT
MOIRAI_CUDA=
export MOIRAI_CUDA
cd "$work" || exit 99

# An allocation of the tensors would fail with another message. Sanitizers
# reserve more address space than that.
# shellcheck disable=SC3045
is_watched || ulimit -S -v 3000000

# Writes net.graphml: op $2 with attributes $3, output shape $4 and type $5, and
# constants SHAPE:DTYPE:VALUE as inputs; $1: whether it is a constant itself, and
# a copy of it the only op.
graph()
{
    constant=$1 type=$2 attrs=$3 shape=$4 dtype=$5
    shift 5
    {
        cat <<-EOF
		<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
		<key id="t" for="node" attr.name="type" attr.type="string"/>
		<key id="s" for="node" attr.name="shape" attr.type="string"/>
		<key id="d" for="node" attr.name="dtype" attr.type="string"/>
		<key id="a" for="node" attr.name="attrs" attr.type="string"/>
		<key id="c" for="node" attr.name="constant" attr.type="boolean"/>
		<key id="p" for="edge" attr.name="dst_port" attr.type="int"/>
		<graph edgedefault="directed">
		EOF
        n=0 edges=
        for input; do
            rest=${input#*:}
            echo "<node id=\"i$n\"><data key=\"t\">Const</data>" \
                "<data key=\"s\">${input%%:*}</data>" \
                "<data key=\"d\">${rest%%:*}</data>" \
                "<data key=\"c\">true</data>" \
                "<data key=\"a\">{\"value\":\"${rest#*:}\"}</data></node>"
            edges="$edges<edge source=\"i$n\" target=\"big\">"
            edges="$edges<data key=\"p\">$n</data></edge>"
            n=$((n + 1))
        done
        echo "<node id=\"big\"><data key=\"t\">$type</data>" \
            "<data key=\"s\">$shape</data><data key=\"d\">$dtype</data>" \
            "<data key=\"c\">$constant</data>" \
            "<data key=\"a\">$attrs</data></node>"
        if $constant; then
            echo "<node id=\"copy\"><data key=\"t\">Relu</data>" \
                "<data key=\"s\">$shape</data>" \
                "<data key=\"d\">$dtype</data></node>"
            edges="$edges<edge source=\"big\" target=\"copy\">"
            edges="$edges<data key=\"p\">0</data></edge>"
        fi
        echo "$edges</graph></graphml>"
    } >net.graphml
}

# Constants of net.graphml become inputs.
make_inputs()
{
    sed -e 's|>Const<|>Parameter<|; s|<data key="c">true</data>||' \
        -e 's|<data key="a">{"value[^<]*</data>||' net.graphml >inputs
    mv inputs net.graphml
}

# A result of 11 GiB in either role, by the default limit and by a given one,
# dry or not; commands that only read the graph need not compute it.
refused()
{
    graph true "$@"
    complains "$1, constant" 1 "'big' ($1) would take " \
        moirai-exec -q net.graphml
    ok "$1, the option" grep -q -e "with --memory-limit" "$work/err"
    complains "$1, constant, dry" 1 "'big' ($1) would take " \
        moirai-exec -q --dry-run net.graphml
    ok "$1, info" moirai-info -q net.graphml
    graph false "$@"
    complains "$1, op" 1 "memory-limit" \
        moirai-exec -q --memory-limit 1024 net.graphml
    ok "$1, info of the op" moirai-info -q net.graphml
}

many=3000000000
refused Broadcast '{"mode":"numpy"}' $many f32 1:f32:1 1:i64:$many
refused Tile '{}' $many f32 1:f32:1 1:i64:$many
refused Pad '{"pad_mode":"constant"}' $many f32 1:f32:1 1:i64:0 1:i64:2999999999 \
    :f32:0
refused Range '{"output_type":"f32"}' $many f32 :f32:0 :f32:$many :f32:1
refused OneHot '{"axis":"-1"}' 1,$many f32 1:i64:0 :i64:$many :f32:1 :f32:0
refused Eye '{"output_type":"f32"}' 55000,55000 f32 :i32:55000 :i32:55000 \
    :i32:0
refused Interpolate '{"mode":"nearest","shape_calculation_mode":"sizes"}' \
    1,1,55000,55000 f32 1,1,1,1:f32:1 2:i64:55000,55000 2:i64:2,3
for op in Add Multiply Power Maximum; do
    refused $op '{}' 55000,55000 f32 55000,1:f32:1 1,55000:f32:2
done
refused Select '{}' 55000,55000 f32 55000,1:boolean:1 1,55000:f32:2 :f32:0
refused MatMul '{}' 55000,55000 f32 55000,1:f32:1 1,55000:f32:2
refused Einsum '{"equation":"i,j->ij"}' 55000,55000 f32 55000:f32:1 55000:f32:2
refused Gather '{}' 55000,55000 f32 1,55000:f32:1 55000:i64:0 :i64:0

# a single number that fills a tensor, and several that do so together

graph true Relu '{}' $many f32 $many:f32:1
complains "a literal" 1 "'i0' (Const) would take 11" \
    moirai-exec -q net.graphml
graph true Concat '{"axis":"0"}' 400000000 f32 200000000:f32:1 200000000:f32:2
complains "a sum of constants" 1 "'i1' (Const) would take 763 MiB" \
    moirai-exec -q net.graphml

# limits of devices

echo '<cluster><device id="c" kind="cpu" gflops="1" memory_bandwidth_gbs="1"
    launch_us="1" memory_bytes="50000000"/></cluster>' >tiny.xml
graph true Broadcast '{"mode":"numpy"}' 100000000 f32 1:f32:1 1:i64:100000000
complains "more than a device holds" 1 "'big' (Broadcast) would take 381 MiB" \
    moirai-exec -q --dry-run -c tiny.xml net.graphml
exits "within the limit" 0 moirai-exec -q --dry-run net.graphml
complains "above a given one" 1 "'big' (Broadcast) would take 381 MiB" \
    moirai-exec -q --memory-limit 300 net.graphml

# inputs and random weights

graph false Relu '{}' $many f32 $many:f32:1
make_inputs
complains "a large input" 1 "GiB of memory for" \
    moirai-exec -q --memory-limit 1024 net.graphml
complains "a large input of a profile" 1 "GiB of memory for" \
    moirai-profile run -q --memory-limit 1024 net.graphml -o profile.xml
graph false MatMul '{"weights":"1:55000,55000"}' 1,55000 f32 1,55000:f32:1
complains "random weights" 1 "--memory-limit" \
    moirai-exec -q --random-weights 1 --memory-limit 1024 net.graphml

# files that are large by their headers only

graph false Relu '{}' 4 f32 4:f32:1
make_inputs
exits "a small network" 0 moirai-exec -q -o results net.graphml
header="{'descr': '<f4', 'fortran_order': False, 'shape': (5000000000,), }"
mkdir ref
{ printf '\223NUMPY\001\000\166\000%-117s\n' "$header"; } >ref/output0.npy
# shellcheck disable=SC3045
is_watched || ulimit -S -v 30000000
if truncate -s 20000000128 ref/output0.npy 2>err; then
    complains "an input of another shape" 1 "is f32[5000000000], but" \
        moirai-exec -q -i ref/output0.npy net.graphml
    exits "a reference of another shape" 4 \
        moirai-exec -q --reference ref net.graphml
else
    skip "files with holes" "the file system has none"
fi

exits "a limit that suffices" 0 moirai-exec -q --memory-limit 1 net.graphml
done_testing
