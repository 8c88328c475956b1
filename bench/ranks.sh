#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# ranks.sh - a network on two devices of this machine: as threads of a process,
# and as two ranks.
#
#     bench/ranks.sh [ROUNDS]
#
# Profiles examples/two_branches, places it, and runs it in ROUNDS rounds (20),
# each with every way once: threads, ranks of mpirun with the default transport,
# with TCP, and without shared memory, and ranks started by hand.  Printed are
# the medians over the rounds, as ratios to the prediction.  Both profiles are
# used: one measured by threads, one by ranks of mpirun.  The machine must be
# idle and have two processors.
. "$(dirname "$0")/verdict.sh"

rounds=${1:-20}
example=$(cd "$(dirname "$0")/../examples/two_branches" && pwd) || exit 1
work=$(mktemp -d "${TMPDIR:-/tmp}/moirai-ranks.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
cp "$example"/* "$work" && cd "$work" || exit 1
if [ "$(id -u)" -eq 0 ]; then
    OMPI_ALLOW_RUN_AS_ROOT=1
    OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM
fi

has_mpi()
{
    command -v mpirun >/dev/null &&
        moirai-exec --version | grep -qi 'mpi'
}

moirai-profile run -q -c model.cluster.xml -o threads.profile.xml model.xml &&
    moirai-place -q -c model.cluster.xml -p threads.profile.xml model.xml \
        -o threads.sol >/dev/null || exit 1
if has_mpi; then
    mpirun -n 2 moirai-profile run -q -c model.cluster.xml \
        -o ranks.profile.xml model.xml &&
        moirai-place -q -c model.cluster.xml -p ranks.profile.xml model.xml \
            -o ranks.sol >/dev/null || exit 1
fi

# WAY SOLUTION: runs it, and appends measured over predicted.
measure()
{
    case $1 in
    threads) moirai-exec -q --json --runs 100 "$2" ;;
    mpirun) mpirun -n 2 moirai-exec -q --json --runs 100 "$2" ;;
    mpirun-tcp)
        mpirun -n 2 moirai-exec -q --transport tcp --json --runs 100 "$2" ;;
    mpirun-no-shm) mpirun -n 2 moirai-exec -q --no-shm --json --runs 100 "$2" ;;
    by-hand)
        moirai-exec -q --rank 1 --ranks 2 --runs 100 "$2" >/dev/null &
        moirai-exec -q --rank 0 --ranks 2 --json --runs 100 "$2"
        wait $! ;;
    esac >report.json || exit 1
    awk -F'[:,]' '/^  "measured_us"/ { m = $2 } /^  "predicted_us"/ { p = $2 }
        END { if (m <= 0 || p <= 0) exit 1; printf "%.4f\n", m / p }' \
        report.json >>"$1.$2.ratios" || exit 1
}

ways="threads by-hand"
solutions=threads.sol
if has_mpi; then
    ways="threads mpirun mpirun-tcp mpirun-no-shm by-hand"
    solutions="threads.sol ranks.sol"
fi
i=0
while [ "$i" -lt "$rounds" ]; do
    for way in $ways; do
        for solution in $solutions; do
            measure "$way" "$solution"
        done
    done
    i=$((i + 1))
done

# FILE FRACTION: that quantile of its numbers.
quantile()
{
    sort -n "$1" | awk -v q="$2" '{ x[NR] = $1 }
        END { print x[int((NR - 1) * q) + 1] }'
}

for solution in $solutions; do
    for way in $ways; do
        ratios=$way.$solution.ratios
        case $way in
        threads) limit=1.15 ;;
        mpirun-no-shm) limit=- ;;
        *) limit=1.25 ;;
        esac
        timed_line "$way, links by ${solution%.sol}, median / predicted" \
            "$(quantile "$ratios" 0.5)" $limit '<=' \
            "$(quantile "$ratios" 0) to $(quantile "$ratios" 1)"
    done
done
exit $failed
