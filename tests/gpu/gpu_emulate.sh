#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# gpu_emulate.sh - one GPU as an unequal cluster: partitions have exactly their
# SMs, networks placed at random on them have the reference outputs, transfers
# take the times of the cluster file, and predicted and measured times are
# reported. MOIRAI_SEED is the seed of the placements, 1 by default.
group=emulate
. "${top_srcdir:=.}/tests/gpu/gpu_jobs.sh"
. "$top_srcdir/tests/support/random_placement.sh"

[ -x "$top_builddir/tests/exec/cuda/test_cuda_sm_partition" ] ||
    skip_group "this is built without Check or without CUDA"

seed=${MOIRAI_SEED:-1}
runs=20
measure=
link_tolerance=5 # percent
networks=$top_srcdir/examples/two_branches
predicted=$networks/model.xml
data=${MOIRAI_DATA:-$top_srcdir/../shared/data}/runnable
if [ -z "${MOIRAI_TEST_GPU:-}" ]; then
    measure=--no-measure
    runs=2
    link_tolerance=1000000 # kernels take their time there
    predicted=$top_srcdir/examples/tiny_ir.xml
elif [ -d "$data" ]; then
    networks=$networks' '$(echo "$data"/*)
fi
# One job at a time: others would disturb the measured times.
gpu_jobs=1

# cluster NAME GBPS LATENCY SMS...: writes devices, all linked, with speeds in
# proportion to their SMs.
cluster()
{
    cluster_file=$dir/$1.xml
    gbps=$2
    latency=$3
    shift 3
    {
        echo '<cluster>'
        k=0
        for sms in "$@"; do
            k=$((k + 1))
            echo "<device id='D$k' gflops='$((sms * 200))'
                memory_bandwidth_gbs='$((sms * 20))' launch_us='2'
                memory_gib='16'/>"
            for l in $(seq $((k - 1))); do
                echo "<link between='D$l D$k' gbps='$gbps'
                    latency_us='$latency'/>"
            done
        done
        echo '</cluster>'
    } >"$cluster_file"
}

value()
{
    sed -n "s/^  \"$1\": \([^,]*\),*\$/\1/p" "$2"
}

inputs()
{
    i=0
    while [ -e "$1/input$i.npy" ]; do
        printf -- '-i %s ' "$i=$1/input$i.npy"
        i=$((i + 1))
    done
}

# The names of the ops are read from a placement.
find_ops()
{
    moirai-place -q --time 1 --method single -c "$dir/four.xml" \
        "$model/model.xml" -o "$dir/$1.sol" >/dev/null &&
        moirai-check --json --graph "$model/model.xml" -c "$dir/four.xml" \
            "$dir/$1.sol" >"$dir/$1.json"
}

place_at_random()
{
    find_ops "$1" || job "$1-placed" false
    for k in $(seq "$seed" $((seed + 1))); do
        placed_at_random "$dir/$1.json" 4 "$k" >"$dir/$1-$k.json"
        # shellcheck disable=SC2046,SC2086 # words
        job "$1-$k" moirai-exec -q --json --reference "$model" $measure \
            --emulate 64,32,16,8 --runs 3 -c "$dir/four.xml" \
            $(inputs "$model") --graph "$model/model.xml" "$dir/$1-$k.json"
    done
}

# A chain alternately on two partitions, with transfers that take far longer
# than its ops.
hold_links()
{
    tiny=$top_srcdir/examples/tiny_ir.xml
    moirai-place -q --time 1 --method single -c "$dir/slow.xml" "$tiny" \
        -o "$dir/chain.sol" >/dev/null
    moirai-check --json --graph "$tiny" -c "$dir/slow.xml" "$dir/chain.sol" |
        placed_at_random /dev/stdin 2 1 |
        awk -F'"' '/:/ { print $2, "D" 1 + n++ % 2 }' >"$dir/chain.txt"
    # shellcheck disable=SC2086 # a word, or none
    job held moirai-exec -q --json --random-weights 1 --check $measure \
        --emulate 64,32 --runs $runs -c "$dir/slow.xml" --graph "$tiny" \
        "$dir/chain.txt"
}

# Prints the percentage by which the chain took longer than its transfers
# alone.
links_over()
{
    awk -v us="$(value measured_us "$dir/held.log")" \
        -v n="$(value transfers "$dir/held.log")" \
        'BEGIN { if (n) printf "%.2f", 100 * (us / (n * 5000) - 1) }'
}

# Profiled on its partitions, placed, run. On the stand-in, which serializes
# the work of all partitions, each partition is measured alone.
predict()
{
    # shellcheck disable=SC2016 # for another shell
    job predicted sh -ec '
        dir=$1 net=$2 runs=$3 measure=$4
        moirai-profile run -q $measure ${measure:+--alone} --runs 5 \
            --emulate 64,32,16,8 -c "$dir/four.xml" -o "$dir/profile.xml" "$net"
        moirai-place -q --time 2 -c "$dir/four.xml" -p "$dir/profile.xml" \
            "$net" -o "$dir/placed.sol" >"$dir/place.txt"
        moirai-exec -q --json $measure --random-weights 1 --runs "$runs" \
            --emulate 64,32,16,8 --graph "$net" -c "$dir/four.xml" \
            -p "$dir/profile.xml" "$dir/placed.sol"' \
        sh "$dir" "$predicted" "$runs" "$measure"
}

cluster four 100 5 64 32 16 8
cluster slow 1000 5000 64 32
job partition env CK_FORK=no "$top_builddir/tests/exec/cuda/test_cuda_sm_partition"
for model in $networks; do
    place_at_random "${model##*/}"
done
hold_links
predict
run_jobs 300
over=$(links_over)
awk -v over="$over" -v most="$link_tolerance" \
    'BEGIN { exit !(over != "" && over >= -most && over <= most) }' || {
    echo "links took $over % more than in the cluster file" >>"$dir/held.log"
    echo 1 >"$dir/held.status"
}
conclude "$(echo "$networks" | wc -w) networks, links $over % over, predicted \
$(value predicted_us "$dir/predicted.log") us, measured \
$(value measured_us "$dir/predicted.log") us"
