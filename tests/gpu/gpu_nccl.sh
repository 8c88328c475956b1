#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# gpu_nccl.sh - two to four ranks that share a GPU and communicate by NCCL:
# networks placed at random have the reference outputs, killed and stopped
# ranks are named by all others, a wrong token is refused. MOIRAI_SEED is the
# seed of the placements, 1 by default.
group=nccl
. "${top_srcdir:=.}/tests/gpu/gpu_jobs.sh"
. "$top_srcdir/tests/support/random_placement.sh"

seed=${MOIRAI_SEED:-1}
placements=20
kills=30
runs=5
long=1000000 # more than fit into the limit
networks=$top_srcdir/examples/two_branches
small=$top_srcdir/examples/two_branches
data=${MOIRAI_DATA:-$top_srcdir/../shared/data}/runnable
MOIRAI_JOB_SECONDS=10
if [ -z "${MOIRAI_TEST_GPU:-}" ]; then
    standin=$(cd "$top_builddir/tests/standin" && pwd -P)/standin_nccl.so
    [ -e "$standin" ] || skip_group "this is built without NCCL"
    MOIRAI_NCCL=$standin
    export MOIRAI_NCCL
    placements=2
    kills=2
    runs=1
    MOIRAI_JOB_SECONDS=30
elif [ -d "$data" ]; then
    networks=$networks' '$(echo "$data"/*)
fi
export MOIRAI_JOB_SECONDS
moirai-exec --version | grep -q 'NCCL' || skip_group "there is no NCCL to use"
# Each job is several processes, all on one GPU; the driver needs some time to
# clean up after those that were killed.
gpu_jobs=$((gpu_jobs > 4 ? gpu_jobs / 4 : 1))

# cluster RANKS: one device each, all on the first GPU, all linked.
cluster()
{
    echo '<cluster>'
    for k in $(seq "$1"); do
        echo "<device id='D$k' gpu='0' model='h200' rank='$((k - 1))'/>"
        for l in $(seq $((k - 1))); do
            echo "<link between='D$l D$k' gbps='100' latency_us='2'/>"
        done
    done
    echo '</cluster>'
}

# ranks NAME KIND RANKS ARGUMENT...: adds a job of ranks, with the network's
# inputs and its placement; arguments are those of the kind, then options.
ranks()
{
    ranks_name=$1
    kind=$2
    n=$3
    shift 3
    set -- sh "$top_srcdir/tests/ranks/nccl_job.sh" "$kind" "$n" "$@" --no-measure \
        --json -c "$dir/$n.xml" --graph "$model/model.xml"
    i=0
    while [ -e "$model/input$i.npy" ]; do
        set -- "$@" -i "$i=$model/input$i.npy"
        i=$((i + 1))
    done
    safe=$([ "$ranks_name" != safe ] || echo 1)
    job "$ranks_name" env "MOIRAI_JOB=$dir/$ranks_name.ranks" \
        "MOIRAI_NCCL_SAFE=$safe" "$@" "$dir/$network-$n-$k.json"
}

# The names of the ops are read from a placement.
find_ops()
{
    moirai-place -q --time 1 --method single -c "$dir/2.xml" \
        "$model/model.xml" -o "$dir/$network.sol" >/dev/null &&
        moirai-check --json --graph "$model/model.xml" -c "$dir/2.xml" \
            "$dir/$network.sol" >"$dir/$network.json"
}

place()
{
    placed_at_random "$dir/$network.json" "$n" "$k" >"$dir/$network-$n-$k.json"
}

for n in 2 3 4; do
    cluster $n >"$dir/$n.xml"
done

# Every network once, the smallest one often, some of them call by call.
for model in $networks; do
    network=${model##*/}
    find_ops || job "$network-placed" false
    count=$([ "$model" = "$small" ] && echo $placements || echo 1)
    for k in $(seq "$seed" $((seed + count - 1))); do
        n=$((2 + k % 3))
        place
        eager=$([ $((k % 5)) -ne 3 ] || echo --eager)
        # shellcheck disable=SC2086 # a word, or none
        ranks "$network-$n-$k" run $n --reference "$model" --runs $runs $eager
    done
done

model=$small
network=${model##*/}
k=$seed
n=3
place
ranks safe run 3 --reference "$model" --runs $runs

# From the start to the middle of a run.
for i in $(seq "$kills"); do
    n=$((2 + i % 3))
    place
    moment=$(awk -v i="$i" 'BEGIN { srand(i); rand()
        printf "%.2f", 0.5 + rand() * 6 }')
    ranks "kill-$i" kill $n $((i % n)) "$moment" --runs $long
done
n=3
place
ranks stopped stop 3 1 6 --runs $long
ranks token token 3
run_jobs 300
conclude "$(echo "$networks" | wc -w) networks, $placements placements, \
$kills kills"
