#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# gpu_models.sh - every network with reference outputs of a framework has the
# same outputs on a GPU: in all precisions, fused or not, with any number of
# streams, as CUDA graphs or call by call, and placed at random on devices that
# share the GPU and on the CPU. MOIRAI_SEED is the seed of the placements, 1 by
# default.
group=models
. "${top_srcdir:=.}/tests/gpu/gpu_jobs.sh"
. "$top_srcdir/tests/support/random_placement.sh"

seed=${MOIRAI_SEED:-1}
measure=
networks=$top_srcdir/examples/two_branches
data=${MOIRAI_DATA:-$top_srcdir/../shared/data}/runnable
if [ -z "${MOIRAI_TEST_GPU:-}" ]; then
    measure=--no-measure
elif [ -d "$data" ]; then
    networks=$networks' '$(echo "$data"/*)
fi

# Writes a cluster of devices, all linked, one letter each: g for a GPU, c for
# two CPU threads.
cluster()
{
    echo '<cluster>'
    k=0
    for kind in $(echo "$1" | sed 's/./& /g'); do
        k=$((k + 1))
        case $kind in
        g) echo "<device id='D$k' gpu='0' model='h200'/>" ;;
        c) echo "<device id='D$k' kind='cpu' gflops='100' threads='2'
            memory_bandwidth_gbs='20'/>" ;;
        esac
        for l in $(seq $((k - 1))); do
            echo "<link between='D$l D$k' gbps='100' latency_us='2'/>"
        done
    done
    echo '</cluster>'
}

# run NAME OPTION...: adds a job with the network, its inputs and outputs.
run()
{
    run_name=$1
    shift
    set -- moirai-exec -q --json --reference "$model" "$@"
    i=0
    while [ -e "$model/input$i.npy" ]; do
        set -- "$@" -i "$i=$model/input$i.npy"
        i=$((i + 1))
    done
    job "$run_name" "$@"
}

alone()
{
    alone_name=$1
    shift
    run "$alone_name" --backend cuda "$@" "$model/model.xml"
}

# The names of the ops are read from a placement.
find_ops()
{
    moirai-place -q --time 1 --method single -c "$dir/gc.xml" \
        "$model/model.xml" -o "$dir/$1.sol" >/dev/null &&
        moirai-check --json --graph "$model/model.xml" -c "$dir/gc.xml" \
            "$dir/$1.sol" >"$dir/$1.json"
}

place_at_random()
{
    find_ops "$1" || job "$1-placed" false
    k=$seed
    for devices in gg gc ggg gcg gcc ggc; do
        precision=$([ $((k % 2)) -eq 0 ] && echo tf32 || echo f32)
        placed_at_random "$dir/$1.json" ${#devices} "$k" >"$dir/$1-$k.json"
        run "$1-$precision-on-$devices" --no-measure --runs 2 \
            --precision "$precision" -c "$dir/$devices.xml" \
            --graph "$model/model.xml" "$dir/$1-$k.json"
        k=$((k + 1))
    done
}

# Prints the largest error of all runs in a precision.
worst()
{
    cat "$dir"/*-"$1"*.log | sed -n 's/^  "max_error": \([^,]*\),*$/\1/p' |
        sort -g | tail -n 1 | awk -v p="$1" '{ printf "%s %.1e", p, $1 }'
}

for devices in gg gc ggg gcg gcc ggc; do
    cluster $devices >"$dir/$devices.xml"
done
for model in $networks; do
    network=${model##*/}
    for precision in f32 tf32 f16 bf16; do
        # shellcheck disable=SC2086 # a word, or none
        alone "$network-$precision" --precision $precision --runs 3 $measure
        alone "$network-$precision-no-fuse" --precision $precision --no-measure \
            --runs 2 --no-fuse --no-layout
        alone "$network-$precision-one-lane" --precision $precision --no-measure \
            --runs 2 --streams 1
        alone "$network-$precision-eager" --precision $precision --no-measure \
            --runs 2 --eager
    done
    place_at_random "$network"
done
run_jobs
conclude "$(echo "$networks" | wc -w) networks, \
$(find "$dir" -name '*.job' | wc -l) runs, worst $(worst f32), \
$(worst tf32), $(worst f16), $(worst bf16)"
