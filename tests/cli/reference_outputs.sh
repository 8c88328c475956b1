#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers
# Every network with reference outputs of a framework has the same outputs:
# placed by the search, and placed at random on one to four devices, run by
# threads and by ranks. MOIRAI_PLACEMENTS is the number of placements, 2 by
# default, 4 in .ci/run, 20 with MOIRAI_LONG; MOIRAI_SEED the first seed, 1 by default.
. "${top_srcdir:=.}/tests/support/tap.sh"
. "$top_srcdir/tests/ranks/ranks.sh"
. "$top_srcdir/tests/support/random_placement.sh"

unset MOIRAI_CLUSTER MOIRAI_PATH MOIRAI_TRANSPORT
data=${MOIRAI_DATA:-$top_srcdir/../shared/data}/runnable
[ -d "$data" ] || skip_all "there is no $data; set MOIRAI_DATA"
placements=${MOIRAI_PLACEMENTS:-$(cases 2 4 20)}
seed=${MOIRAI_SEED:-1}

# Writes a cluster of that many devices, all linked.
cluster()
{
    echo '<cluster>'
    for k in $(seq "$1"); do
        echo "<device id='D$k' kind='cpu' gflops='${k}0' threads='1'
            memory_bandwidth_gbs='10' launch_us='1'/>"
        for l in $(seq $((k - 1))); do
            echo "<link between='D$l D$k' gbps='40' latency_us='2'/>"
        done
    done
    echo '</cluster>'
}

for n in 1 2 3 4; do
    cluster $n >"$work/$n.xml"
done

# Prints the options that give a network its inputs.
inputs()
{
    i=0
    while [ -e "$1/input$i.npy" ]; do
        printf -- '-i %s ' "$i=$1/input$i.npy"
        i=$((i + 1))
    done
}

# Runs that many ranks of this transport, or the threads of one process.
run()
{
    way=$1
    processes=$2
    shift 2
    case $way in
    threads) moirai-exec "$@" ;;
    mpi) mpirun -n "$processes" moirai-exec "$@" ;;
    tcp)
        ranks_by_tcp "$processes" moirai-exec "$@"
        cat "$work/err"
        return "$status"
        ;;
    esac
}

# Seed, devices: the first few run by MPI, the next by TCP, all others by
# threads.
way_of()
{
    if [ "$2" -gt 1 ] && [ "$1" -lt $((seed + 4)) ] && [ -z "$no_mpi" ]; then
        echo mpi
    elif [ "$2" -gt 1 ] && [ "$1" -lt $((seed + 8)) ]; then
        echo tcp
    else
        echo threads
    fi
}

# Random placements; those with odd numbers are of the coarsened network.
try_placements()
{
    for k in $(seq "$seed" $((seed + placements - 1))); do
        devices=$((1 + k % 4))
        fusion=$([ $((k % 2)) -eq 1 ] && echo default || echo none)
        placed_at_random "$work/$fusion.json" $devices "$k" >"$work/place.json"
        way=$(way_of "$k" $devices)
        # shellcheck disable=SC2046 # these are words
        run "$way" $devices -q -c "$work/$devices.xml" --fusion "$fusion" \
            --graph "$1/model.xml" $(inputs "$1") --reference "$1" \
            "$work/place.json" || {
            echo "with seed $k, $devices devices, by $way"
            return 1
        }
    done
}

try_solution()
{
    # shellcheck disable=SC2046 # these are words
    moirai-exec --graph "$1/model.xml" -c "$work/3.xml" $(inputs "$1") \
        --reference "$1" "$2"
}

no_mpi=
mpirun -n 2 true >/dev/null 2>&1 || no_mpi=yes
[ -z "$no_mpi" ] || echo "# there is no mpirun: threads and TCP only"

for model in "$data"/*/; do
    model=${model%/}
    name=${model##*/}
    for fusion in none default; do
        moirai-place -q --time 2 --fusion $fusion -c "$work/3.xml" \
            "$model/model.xml" -o "$work/$fusion.sol" >/dev/null
        ok "$name, placed by the search, fusion $fusion" \
            try_solution "$model" "$work/$fusion.sol"
        moirai-check --graph "$model/model.xml" -c "$work/3.xml" --json \
            "$work/$fusion.sol" >"$work/$fusion.json"
    done
    ok "$name, $placements times at random" try_placements "$model"
done

done_testing
