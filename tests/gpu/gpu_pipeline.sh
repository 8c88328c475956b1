#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# gpu_pipeline.sh - many requests in flight: on one GPU as 64/32/16/8 SMs, on
# two ranks by NCCL, and on a GPU beside a CPU; outputs are those of single
# runs, bit by bit. The log has predicted and measured periods of networks
# placed by single, dp-contiguous and the search, in microseconds.
group=pipeline
. "${top_srcdir:=.}/tests/gpu/gpu_jobs.sh"
. "$top_srcdir/tests/support/random_placement.sh"

small=$top_srcdir/examples/two_branches
networks=$small
data=${MOIRAI_DATA:-$top_srcdir/../shared/data}/runnable
requests=2000
runs=20
methods='single dp-contiguous moirai'
flights='auto 4 8'
flight=4
measure=
if [ -z "${MOIRAI_TEST_GPU:-}" ]; then
    requests=5
    runs=1
    methods=moirai
    flights=2
    flight=1
    measure=--no-measure
    standin=$(cd "$top_builddir/tests/standin" && pwd -P)/standin_nccl.so
    [ ! -e "$standin" ] || export MOIRAI_NCCL="$standin"
else
    for network in small_swin squeezenet1_1 small_regnet small_bert; do
        [ ! -d "$data/$network" ] || networks="$networks $data/$network"
    done
fi
# One job at a time: others would disturb the measured times.
gpu_jobs=1

# devices ATTRIBUTES...: all linked, named D1, D2, ...
cluster()
{
    echo '<cluster>'
    k=0
    for attributes in "$@"; do
        k=$((k + 1))
        echo "<device id='D$k' $attributes/>"
        for l in $(seq $((k - 1))); do
            echo "<link between='D$l D$k' gbps='100' latency_us='5'/>"
        done
    done
    echo '</cluster>'
}

part()
{
    echo "gflops='$(($1 * 200))' memory_bandwidth_gbs='$(($1 * 20))'
        launch_us='2' memory_gib='16'"
}

inputs()
{
    i=0
    while [ -e "$1/input$i.npy" ]; do
        printf -- '-i %s ' "$i=$1/input$i.npy"
        i=$((i + 1))
    done
}

# random NAME CLUSTER MODEL DEVICES: places ops at random.
random()
{
    moirai-place -q --time 1 --method single -c "$2" "$3/model.xml" \
        -o "$dir/$1.sol" >/dev/null &&
        moirai-check --json --graph "$3/model.xml" -c "$2" "$dir/$1.sol" \
            >"$dir/$1.ops" && placed_at_random "$dir/$1.ops" "$4" 1 \
        >"$dir/$1.json"
}

# One GPU in parts: profiled, placed by three methods, run; then the outputs
# of random requests against single runs.
emulated()
{
    name=${1##*/}
    # shellcheck disable=SC2016 # for another shell
    job "emulated-$name" sh -ec '
        dir=$1 name=$2 net=$3 requests=$4 runs=$5 measure=$6
        methods=$7 flights=$8
        parts="--emulate 64,32,16,8 -c $dir/four.xml"
        weights="--random-weights 1"
        [ ! -e "${net%.xml}.bin" ] || weights=
        moirai-profile run -q $measure ${measure:+--alone} --runs "$runs" \
            $parts --in-flight "$9" -o "$dir/$name.profile.xml" "$net"
        for method in $methods; do
            moirai-place -q --objective period --time 5 --method $method \
                -c "$dir/four.xml" -p "$dir/$name.profile.xml" "$net" \
                -o "$dir/$name.$method.sol" >/dev/null
            for k in $flights; do
                at="--in-flight $k"
                [ $k != auto ] || at=
                moirai-exec -q --json $measure $weights $parts \
                    --requests "$requests" $at --graph "$net" \
                    -p "$dir/$name.profile.xml" "$dir/$name.$method.sol" \
                    >"$dir/$name.$method.$k.report"
                awk -F"[:,]" -v row="$name $method in-flight=$k" "
                    /^  \"period_us\"/ { m = \$2 }
                    /^  \"predicted_period_us\"/ { p = \$2 }
                    /^  \"bottleneck\"/ { b = \$2 }
                    END { print \"PERIOD\", row, \"predicted\" p, \"measured\" m,
                        \"bottleneck\" b }" "$dir/$name.$method.$k.report"
            done
        done
        moirai-exec -q $measure $weights $parts --requests 5 --in-flight 3 \
            --graph "$net" -o "$dir/$name.many" "$dir/$name.moirai.sol"
        for r in 0 4; do
            moirai-exec -q $measure $weights $parts --seed $r --graph "$net" \
                -o "$dir/$name.one" "$dir/$name.moirai.sol"
            cmp "$dir/$name.one/output0.npy" "$dir/$name.many/000$r/output0.npy"
        done' sh "$dir" "$name" "$1/model.xml" "$requests" "$runs" "$measure" \
        "$methods" "$flights" "$flight"
}

# beside NAME CLUSTER MODEL: in one process, requests and single runs.
beside()
{
    random "$1" "$2" "$3" 3 || job "$1-placed" false
    # shellcheck disable=SC2016,SC2046 # for another shell; words
    job "$1" sh -ec '
        dir=$1 name=$2 cluster=$3 net=$4 requests=$5 measure=$6
        run="moirai-exec -q --json $measure -c $cluster --graph $net"
        $run --requests "$requests" --in-flight 3 -o "$dir/$name.many" \
            "$dir/$name.json"
        for r in 0 4; do
            $run --seed $r -o "$dir/$name.one" "$dir/$name.json"
            cmp "$dir/$name.one/output0.npy" "$dir/$name.many/000$r/output0.npy"
        done' sh "$dir" "$1" "$2" "$3/model.xml" "$((requests / 10 + 5))" \
        "$measure"
}

# ranks NAME CLUSTER MODEL RANKS DEVICES: the same over NCCL.
ranks()
{
    random "$1" "$2" "$3" "$5" || job "$1-placed" false
    # shellcheck disable=SC2016 # for another shell
    job "$1" sh -ec '
        dir=$1 name=$2 cluster=$3 net=$4 n=$5 requests=$6 job=$7 measure=$8
        export MOIRAI_JOB="$dir/$name.ranks"
        run()
        {
            sh "$job" run $n "$@" $measure --json -c "$cluster" --graph "$net" \
                "$dir/$name.json"
        }
        # Both ranks share one GPU, which has room for few waiting kernels.
        export MOIRAI_NCCL_PIPELINE=1 NCCL_MAX_NCHANNELS=1
        run --requests "$requests" --in-flight 2 -o "$dir/$name.many"
        for r in 0 4; do
            run --seed $r -o "$dir/$name.one"
            cmp "$dir/$name.one/output0.npy" "$dir/$name.many/000$r/output0.npy"
        done' sh "$dir" "$1" "$2" "$3/model.xml" "$4" \
        "$((requests / 10 + 5))" "$top_srcdir/tests/ranks/nccl_job.sh" \
        "$measure"
}

cluster "$(part 64)" "$(part 32)" "$(part 16)" "$(part 8)" >"$dir/four.xml"
gpu="gpu='0' model='h200'"
cpu="kind='cpu' gflops='60' memory_bandwidth_gbs='10' memory_gib='4'
    threads='2'"
cluster "$gpu" "$cpu" "$gpu" >"$dir/beside.xml"
cluster "$gpu rank='0'" "$gpu rank='1'" >"$dir/two.xml"
for model in $networks; do
    emulated "$model"
done
beside beside "$dir/beside.xml" "$small"
if moirai-exec --version | grep -q NCCL; then
    ranks ranks "$dir/two.xml" "$small" 2 2
fi
run_jobs 300
grep -h '^PERIOD' "$dir"/*.log | sed 's/^PERIOD //'
conclude "$(echo "$networks" | wc -w) networks"
