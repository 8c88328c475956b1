#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers
# Tests of the transport tcp: ranks started by a launcher on one host, by hand,
# and as by torchrun and Slurm; with the right token, with a wrong one, and with
# foreign connections.
. "${top_srcdir:=.}/tests/support/tap.sh"
. "$top_srcdir/tests/ranks/ranks.sh"

ranks_or_skip tcp
. "$top_srcdir/tests/ranks/ranks_claims.sh"

ranks_limit=15
all_report "a rank that does not connect" 1 "" \
    "rank 1 has never come to rank 0 at .*" 3 late=1 patience=2
ranks_limit=

# By hand: number of ranks, common variables, arguments. The output of each
# rank is in rank.0, rank.1, ...
by_hand()
{
    n=$1
    variables=$2
    shift 2
    next_port
    pids=
    r=0
    while [ $r -lt "$n" ]; do
        # Variables are words.
        # shellcheck disable=SC2086
        env MOIRAI_RANK=$r MOIRAI_RANKS="$n" MOIRAI_MASTER=127.0.0.1:$port \
            $variables timeout -k 1 90 "$exec_fault" "$@" \
            >"$work/rank.$r" 2>&1 </dev/null &
        pids="$pids $!"
        r=$((r + 1))
    done
    # shellcheck disable=SC2086
    ranks_wait $pids
}

by_hand 3 "" seed=5
ok "three ranks with a master port" grep -q '^right: ' "$work/rank.0"
# Without TLS there are no tokens: loopback alone.
token=MOIRAI_TOKEN=secret
"$top_builddir/tests/ranks/hostile_rank" tls || token=
by_hand 2 "$token MOIRAI_BIND=127.0.0.1" seed=6 patience=60
ok "${token:+with a token, }bound to an address" grep -q '^right: ' \
    "$work/rank.0"

# RANK TOKEN NAME: one of two ranks; its output is in rank.NAME.
start()
{
    env MOIRAI_RANK="$1" MOIRAI_RANKS=2 MOIRAI_MASTER=127.0.0.1:$port \
        ${2:+MOIRAI_TOKEN="$2"} timeout -k 1 90 "$exec_fault" seed=3 patience=60 \
        >"$work/rank.$3" 2>&1 </dev/null
}

if [ -n "$token" ]; then
    # One of three has another token: the error names the reason, those of the
    # others the rank.
    next_port
    pids=
    for r in 0 1 2; do
        token=$([ $r -eq 2 ] && echo wrong || echo right)
        env MOIRAI_RANK=$r MOIRAI_RANKS=3 MOIRAI_MASTER=127.0.0.1:$port \
            MOIRAI_TOKEN="$token" timeout -k 1 90 "$exec_fault" patience=12 \
            >"$work/rank.$r" 2>&1 &
        pids="$pids $!"
    done
    # shellcheck disable=SC2086
    ranks_wait $pids
    is "another token" "$(grep -c 'rank 2 at 127.0.0.1 has another token' \
        "$work/rank.0" "$work/rank.1" | tr '\n' ' ')" \
        "$work/rank.0:1 $work/rank.1:1 "
    ok "is reported by the rank that has it" grep -q \
        "exec_fault\[2\]: rank 0 at 127.0.0.1:$port has another token" \
        "$work/rank.2"
    ok "and never shown" test -z "$(grep -l 'wrong\|right' "$work"/rank.*)"

    # A rank with a wrong token does not block the one with the right token.
    next_port
    start 0 right 0 &
    pids=$!
    start 1 wrong wrong
    ok "a wrong token is refused at once" grep -q 'has another token' \
        "$work/rank.wrong"
    start 1 right 1
    ranks_wait "$pids"
    ok "and the right one is accepted" grep -q '^right: ' "$work/rank.0"
fi

# The same rank twice: the second is refused, and the job continues.
one_is_refused()
{
    grep -qs 'has come already' "$work"/twin.1.*
}
next_port
pids=
for r in 0 1 1 2; do
    [ $r -ne 2 ] || await one_is_refused
    env MOIRAI_RANK=$r MOIRAI_RANKS=3 MOIRAI_MASTER=127.0.0.1:$port \
        timeout -k 1 90 "$exec_fault" seed=4 >"$work/twin.$r.${pids:+$!}" 2>&1 &
    pids="$pids $!"
done
# shellcheck disable=SC2086
ranks_wait $pids
is "the same rank twice" "$(cat "$work"/twin.1.* |
    grep -c 'rank 1 at 127.0.0.1 has come already, from host')" 1
ok "does no harm" grep -q '^right: ' "$work"/twin.0.*

# Two processes as rank 0.
next_port
start 0 "${token:+t}" 0 &
pids=$!
start 0 "${token:+t}" second &
pids="$pids $!"
ok "a second rank 0" await grep -q "127.0.0.1:$port is taken" \
    "$work/rank.0" "$work/rank.second"
start 1 "${token:+t}" 1
# shellcheck disable=SC2086
ranks_wait $pids
ok "does not disturb the first" grep -q '^right: ' "$work/rank.0" \
    "$work/rank.second"

# As other launchers start ranks. Arguments, then variables of rank 0 and of
# rank 1.
as_started_by()
{
    claim=$1
    shift
    # Variables are words.
    # shellcheck disable=SC2086
    env $1 $3 timeout -k 1 90 "$exec_fault" seed=8 >"$work/rank.0" 2>&1 &
    pids=$!
    # shellcheck disable=SC2086
    env $2 $3 timeout -k 1 90 "$exec_fault" seed=8 >"$work/rank.1" 2>&1 ||
        comment <"$work/rank.1"
    ranks_wait $pids
    ok "$claim" grep -q '^right: ' "$work/rank.0"
}
next_port
as_started_by "torchrun" "RANK=0" "RANK=1" \
    "WORLD_SIZE=2 LOCAL_WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=$port
    TORCHELASTIC_RUN_ID=none MOIRAI_TRANSPORT="
as_started_by "Slurm, on one node" "SLURM_PROCID=0" "SLURM_PROCID=1" \
    "SLURM_STEP_NUM_TASKS=2 SLURM_STEP_NUM_NODES=1 SLURM_JOB_ID=$$
    SLURM_STEP_ID=0 MOIRAI_TRANSPORT=tcp"
as_started_by "Slurm, on nodes" "SLURM_PROCID=0" "SLURM_PROCID=1" \
    "SLURM_STEP_NUM_TASKS=2 SLURM_STEP_NUM_NODES=2 SLURM_JOB_ID=$$
    SLURM_STEP_ID=1 SLURM_STEP_NODELIST=localhost MOIRAI_TRANSPORT=tcp"
done_testing
