#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers
# Tests of moirai-exec and moirai-profile --emulate: SM partitions of one GPU
# as the devices of a cluster, on the stand-in or on a real GPU where
# MOIRAI_TEST_GPU is set.
. "${top_srcdir:=.}/tests/support/tap.sh"
. "$top_srcdir/tests/support/random_placement.sh"

unset MOIRAI_CLUSTER MOIRAI_PATH MOIRAI_TRANSPORT
if [ -z "${MOIRAI_TEST_GPU:-}" ]; then
    standin=$(cd "$top_builddir/tests/standin" && pwd -P)/standin_cuda.so
    [ -e "$standin" ] || skip_all "built without CUDA"
    MOIRAI_CUDA=$standin
    MOIRAI_NVRTC=$standin
    MOIRAI_CUBLASLT=
    [ ! -e "${standin%cuda.so}cublaslt.so" ] ||
        MOIRAI_CUBLASLT=${standin%cuda.so}cublaslt.so
    MOIRAI_CUDNN=
    export MOIRAI_CUDA MOIRAI_NVRTC MOIRAI_CUBLASLT MOIRAI_CUDNN
fi
MOIRAI_CACHE=$work/cache
export MOIRAI_CACHE
cp -R "$top_srcdir/examples/two_branches" "$work/net"
chmod -R u+w "$work/net"
net=$work/net/model.xml
seed=${MOIRAI_SEED:-1}
echo "# MOIRAI_SEED=$seed"

# cluster N LATENCY: N devices in a row, so that some transfers go over several
# links.
cluster()
{
    echo '<cluster>'
    for k in $(seq "$1"); do
        echo "<device id='D$k' model='h200'/>"
        [ "$k" -eq 1 ] ||
            echo "<link between='D$((k - 1)) D$k' gbps='100' latency_us='$2'/>"
    done
    echo '</cluster>'
}

cluster 4 50 >"$work/four.xml"
cluster 2 3000 >"$work/two.xml"
cluster 3 3000 >"$work/three.xml"
cluster 2 1 | sed "s/<cluster>/<cluster host_request_us='1'>/" >"$work/near.xml"

value()
{
    sed -n "s/^  \"$1\": \(.*[^,]\),*\$/\1/p" "$work/out"
}

# A chain of ops that take next to no time, even on the stand-in.
layer()
{
    shape='<dim>1</dim><dim>64</dim>'
    echo "<layer id='$1' name='l$1' type='$2' version='opset1'>"
    [ "$2" != Parameter ] || echo "<data shape='1,64' element_type='f32'/>"
    [ "$2" = Parameter ] || echo "<input><port id='0'>$shape</port></input>"
    [ "$2" = Result ] ||
        echo "<output><port id='1' precision='FP32'>$shape</port></output>"
    echo '</layer>'
}

chain()
{
    echo '<net name="chain" version="11"><layers>'
    i=0
    for type in Parameter Sigmoid Tanh Exp Sigmoid Tanh Result; do
        layer $i $type
        i=$((i + 1))
    done
    echo '</layers><edges>'
    for i in 0 1 2 3 4 5; do
        echo "<edge from-layer='$i' from-port='1' to-layer='$((i + 1))'
            to-port='0'/>"
    done
    echo '</edges></net>'
}

chain >"$work/chain.xml"
chain=$work/chain.xml

# Prints the ops of a network, taken from a placement of it.
ops_of()
{
    moirai-place -q --time 1 --method single -c "$work/two.xml" "$1" \
        -o "$work/any.sol" >/dev/null &&
        moirai-check --json --graph "$1" -c "$work/two.xml" "$work/any.sol"
}

# running

ops_of "$net" >"$work/net.json"
placed_at_random "$work/net.json" 4 "$seed" >"$work/placed.json"
emulated()
{
    moirai-exec --no-measure -i "$work/net/input0.npy" -c "$work/four.xml" \
        --reference "$work/net" --graph "$net" "$@" "$work/placed.json"
}

exits "four parts, placed at random" 0 emulated --emulate 64,32,16,8 --runs 2 \
    --json
is "there is no warning that times are longer" "$(cat "$work/err")" ""
ok "the report lists the parts" \
    grep -q '"emulated": {"parts": \[64, 32, 16, 8\]' "$work/out"
ok "and what they share" grep -q '"memory bandwidth", "L2 cache", "clocks"' \
    "$work/out"
ok "with transfers" test "$(value transfers)" -gt 0

# emulated link times

# Ops alternately on both: one transfer after the other.
ops_of "$chain" | placed_at_random /dev/stdin 2 "$seed" |
    awk -F'"' '/:/ { print $2, "D" 1 + n++ % 2 }' >"$work/turns"
stream()
{
    moirai-exec -q --no-measure -c "$work/two.xml" --emulate 64,32 \
        --graph "$chain" "$@" "$work/turns" >/dev/null
}
ok "requests in flight" stream --requests 8 --in-flight 3 -o "$work/many"
for r in 0 3 7; do
    ok "a single run" stream --seed $r -o "$work/single"
    ok "has the outputs of request $r" cmp "$work/single/output0.npy" \
        "$work/many/000$r/output0.npy"
done
cat >"$work/mixed.xml" <<EOF
<cluster><device id='D1' model='h200'/><device id='D2' kind='cpu' gflops='60'
  memory_bandwidth_gbs='10' launch_us='2' memory_gib='1' threads='1'/>
<link between='D1 D2' gbps='100' latency_us='5'/></cluster>
EOF
mixed()
{
    moirai-exec -q --no-measure -c "$work/mixed.xml" --graph "$chain" "$@" \
        "$work/turns" >/dev/null
}
ok "a GPU beside a CPU" mixed --requests 8 --in-flight 3 -o "$work/both"
for r in 0 3 7; do
    ok "a single run" mixed --seed $r -o "$work/single"
    ok "has the outputs of request $r" cmp "$work/single/output0.npy" \
        "$work/both/000$r/output0.npy"
done
complains "programs are needed" 2 "--eager is for single runs" \
    moirai-exec -c "$work/two.xml" --emulate 64,32 --eager --requests 3 \
    --graph "$chain" "$work/turns"

by_turns()
{
    moirai-exec --no-measure --check --runs 2 -c "$work/two.xml" "$@" \
        --graph "$chain" "$work/turns"
}

# Returns whether every transfer of the chain took at least that many
# microseconds.
is_held()
{
    awk -v us="$(value measured_us)" -v n="$(value transfers)" -v each="$1" \
        'BEGIN { exit !(n > 2 && us >= 0.99 * n * each) }'
}

exits "a chain over a slow link" 0 by_turns --emulate 64,32 --json
ok "takes as long as its transfers" is_held 3000
exits "call by call" 0 by_turns --emulate 64,32 --json --eager
ok "the same" is_held 3000
exits "in halves, which are other bytes than were placed" 0 \
    by_turns --emulate 64,32 --json --precision f16
ok "the same" is_held 3000
sed 's/D2$/D3/' "$work/turns" >"$work/far"
exits "over two links" 0 moirai-exec --no-measure --check --runs 2 --json \
    -c "$work/three.xml" --emulate 64,32,16 --graph "$chain" "$work/far"
ok "twice that" is_held 6000
complains "what is no number of SMs" 2 "'64;32' is no number of SMs" \
    by_turns --emulate '64;32'
exits "as text" 0 by_turns --emulate 32,16
ok "what it is" grep -q '^emulated  *devices are parts of one GPU' "$work/out"
ok "device by device" grep -qE '^D2 .* on cuda,  16 SMs' "$work/out"
exits "without parts" 0 by_turns --backend cuda --json
ok "is no emulation" sh -c "! grep -q emulated '$work/out'"

# profiling

profile()
{
    moirai-profile run --no-measure --runs 1 -c "$work/two.xml" "$@" "$chain"
}

rows()
{
    grep -c "<op device=\"$1\"" "$work/profile.xml"
}

exits "parts are measured" 0 profile --emulate 64,32 -o "$work/profile.xml"
ok "each by its id" test "$(rows D1)" -gt 0 -a "$(rows D1)" -eq "$(rows D2)"
ok "the profile records it" grep -q '<profile .*emulated="64,32"' \
    "$work/profile.xml"
is "links are the cluster's" "$(grep -c '<link' "$work/profile.xml")" 0
cp "$work/profile.xml" "$work/before.xml"
exits "once" 0 profile --emulate 64,32 -o "$work/profile.xml"
ok "what is there stays" cmp "$work/profile.xml" "$work/before.xml"
complains "other parts need another file" 1 \
    "was measured with --emulate 64,32, not with --emulate 32,32" \
    profile --emulate 32,32 -o "$work/profile.xml"
complains "so do whole GPUs" 1 "was measured with --emulate 64,32, not without" \
    profile --backend cuda -o "$work/profile.xml"
exits "one at a time" 0 profile --emulate 64,32 --alone -o "$work/alone.xml"
ok "is recorded, too" grep -q 'emulated="64,32 alone"' "$work/alone.xml"
# Whether there is a split depends on the times.
exits "requests in flight" 0 moirai-profile run -v --no-measure --runs 1 \
    --as-placed -c "$work/near.xml" --emulate 64,32 --in-flight 2 \
    -o "$work/flight.xml" "$chain"
is "the fit to measured splits is recorded" \
    "$(grep -c 'parts_slowdown="' "$work/flight.xml")" \
    "$(grep -c 'split 1: period' "$work/err")"
exits "times of parts predict" 0 by_turns --emulate 64,32 \
    -p "$work/profile.xml"

# errors

two()
{
    moirai-exec -q --no-measure -c "$work/two.xml" "$@" "$chain"
}

complains "a part for each device" 1 \
    "'64,32,16' has 3 parts, but the cluster has 2 devices" \
    two --emulate 64,32,16
complains "in groups" 1 "a part of 13 SMs: GPU 0 has " two --emulate 64,13
complains "no more than there are" 1 "are 1040 SMs: GPU 0 has " \
    two --emulate 1000,40
for spec in 64,x '64,' ',64' 64,-8 64,0 64,99999999; do
    complains "no part is '$spec'" 2 "--emulate: " two --emulate "$spec"
done
complains "processors have no parts" 2 "leave --backend cpu out" \
    two --backend cpu --emulate 64,32
MOIRAI_CUDA=
export MOIRAI_CUDA
complains "no driver" 1 "--backend cuda: " two --emulate 64,32
done_testing
