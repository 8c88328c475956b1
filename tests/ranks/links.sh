#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers
# moirai-profile, moirai-cluster and moirai-exec started as ranks: which path
# links take, by which they were measured, and processors that ranks are bound
# to.
. "${top_srcdir:=.}/tests/support/tap.sh"
. "$top_srcdir/tests/ranks/ranks.sh"
. "$top_srcdir/tests/support/random_placement.sh"

ranks_or_skip tcp
ranks_use_shm
unset MOIRAI_CLUSTER MOIRAI_PATH
cp "$top_srcdir"/examples/two_branches/* "$work" && cd "$work" || exit 1
chmod u+w ./*

# The paths of the links of a profile, each once.
paths_of()
{
    sed -n 's/.*<link.* path="\([^"]*\)".*/\1/p' "$1" | sort -u | tr '\n' ' '
}

# Claim, number of ranks, command: it succeeds.
as_ranks()
{
    claim=$1
    shift
    ranks_by_tcp "$@"
    if [ $status -eq 0 ]; then
        pass "$claim"
    else
        fail "$claim"
        comment <"$work/err"
    fi
}

profile="moirai-profile run -q --runs 2 -c model.cluster.xml"
# Options are words.
# shellcheck disable=SC2086
exits "threads are measured" 0 $profile -o threads.xml model.xml
is "and their links are local" "$(paths_of threads.xml)" "local "

# shellcheck disable=SC2086
as_ranks "ranks measure a network" 2 $profile -o ranks.xml model.xml
is "and links through shared memory" "$(paths_of ranks.xml)" "shm "
is "with the same ops" "$(grep -c '<op' ranks.xml)" "$(grep -c '<op' threads.xml)"
is "on both devices" \
    "$(sed -n 's/.*<op device="\([^"]*\)".*/\1/p' ranks.xml | sort -u |
        tr '\n' ' ')" "fast slow "
cp ranks.xml again.xml
# shellcheck disable=SC2086
as_ranks "what was measured" 2 $profile -o again.xml model.xml
ok "is not measured again" cmp -s ranks.xml again.xml
cp threads.xml again.xml
# shellcheck disable=SC2086
as_ranks "links of threads" 2 $profile -o again.xml model.xml
is "are measured again by ranks" "$(paths_of again.xml)" "shm "
ok "but not their ops" \
    [ "$(grep '<op' again.xml)" = "$(grep '<op' threads.xml)" ]
MOIRAI_NO_SHM=1
export MOIRAI_NO_SHM
# shellcheck disable=SC2086
as_ranks "ranks without shared memory" 2 $profile -o tcp.xml model.xml
is "measure links over TCP" "$(paths_of tcp.xml)" "tcp "
ranks_use_shm

sed 's/fast/other/g' model.cluster.xml >other.cluster.xml
ranks_n=2
ranks_jobs=differ
: >"$work/out"
: >"$work/err"
ranks_r=0
ranks_one moirai-profile run -q --runs 1 -c model.cluster.xml model.xml &
pids=$!
ranks_r=1
(ranks_one moirai-profile run -q --runs 1 -c other.cluster.xml model.xml)
ranks_wait $pids
ok "ranks with different files are refused" \
    grep -q 'measures another graph or cluster than rank 0' "$work/err"

as_ranks "a cluster is measured by ranks" 2 moirai-cluster discover --measure \
    --cpus 1 --gpus none
ok "with the path of its links" grep -q 'measured, path: shm' "$work/out"

# What moirai-exec reports, of a placement on both devices whatever was measured.
moirai-place -q -p threads.xml model.xml -o placed.sol >/dev/null
moirai-check --json placed.sol >verdict.json
placed_at_random verdict.json 2 1 |
    sed 's/"D1"/"fast"/; s/"D2"/"slow"/' >placement.json
# The profile; further options.
execute()
{
    profiled=$1
    shift
    echo moirai-exec -g model.xml -p "$profiled.xml" "$@" placement.json
}
message='was measured by threads of a process, but values go by shm'
# shellcheck disable=SC2046
as_ranks "ranks run what was measured by threads" 2 $(execute threads --check)
is "and report it in one line" "$(grep -c "threads.xml: .*$message" \
    "$work/err")" 1
ok "the report has the path of a link" grep -q 'fast to slow by shm: ' \
    "$work/out"
# shellcheck disable=SC2046
as_ranks "what was measured by ranks" 2 $(execute ranks --json)
is "is run without a word" "$(grep -c 'was measured by' "$work/err")" 0
ok "JSON has the path" grep -q '"path": "shm"' "$work/out"
# shellcheck disable=SC2046
as_ranks "an option excludes shared memory" 2 $(execute ranks --no-shm)
ok "for all values" grep -q 'fast to slow by tcp: ' "$work/out"
ok "and that is reported" grep -q 'by shm, but values go by tcp' "$work/err"
# shellcheck disable=SC2046
exits "threads run what was measured by ranks" 0 $(execute ranks)
ok "and report it" grep -q 'by shm, but values go by threads' "$work/err"

# Bound to one of several processors.
if [ "$(getconf _NPROCESSORS_ONLN)" -gt 1 ] && command -v taskset >/dev/null; then
    # shellcheck disable=SC2046
    as_ranks "ranks with one processor" 2 taskset -c 0 $(execute ranks)
    is "share it, and need no other for messages" \
        "$(grep -c 'take turns' "$work/err") $(grep -c 'messages need' \
            "$work/err")" "1 0"
    # shellcheck disable=SC2046
    as_ranks "without shared memory" 2 taskset -c 0 $(execute ranks --no-shm)
    is "they do for messages" "$(grep -c \
        'rank 0 is bound to 1 processor for 1 thread, and messages need one' \
        "$work/err")" 1
    # shellcheck disable=SC2046
    as_ranks "for two threads" 2 taskset -c 0 $(execute ranks --threads 2)
    ok "they do, too" grep -q \
        'processors (mpirun --bind-to none, or --map-by slot:PE=2)' "$work/err"
fi
done_testing
