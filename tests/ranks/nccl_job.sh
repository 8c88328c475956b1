#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# nccl_job.sh KIND RANKS OPTION... - runs ranks of moirai-exec with NCCL on this
# machine; exits with 0 if the result is the expected one of the KIND.
#
#     run RANKS ...               all succeed, and NCCL was used
#     mixed RANKS ...             the last rank has TCP alone: all succeed
#     bare RANKS ...              the last rank has no GPU and no CUDA driver:
#                                 all succeed, and NCCL was used
#     kill RANKS RANK MOMENT ...  that rank is killed MOMENT seconds after the
#                                 start: the others end soon, and name it
#     stop RANKS RANK MOMENT ...  the same, but it is stopped by SIGSTOP, and the
#                                 others end after the heartbeat timeout
#     token RANKS ...             the last rank has another token: it is refused,
#                                 and the others report it
#
# Several ranks may share a GPU: each reports another host, else NCCL would
# refuse it, and uses sockets. MOIRAI_JOB_SECONDS: how long "soon" is, 10 by
# default. The output of ranks is in the folder MOIRAI_JOB, which is created.
set -u
LC_ALL=C
export LC_ALL
kind=$1
n=$2
shift 2
soon=${MOIRAI_JOB_SECONDS:-10}
job=${MOIRAI_JOB:-nccl-job.$$}
rm -rf "$job"
mkdir -p "$job" || exit 99

unset MOIRAI_TRANSPORT RANK WORLD_SIZE MASTER_ADDR MASTER_PORT
MOIRAI_RANKS=$n
MOIRAI_MASTER=127.0.0.1:$((10000 + $$ % 10000))
NCCL_SOCKET_IFNAME=${NCCL_SOCKET_IFNAME:-lo}
NCCL_IB_DISABLE=1
export MOIRAI_RANKS MOIRAI_MASTER NCCL_SOCKET_IFNAME NCCL_IB_DISABLE
# Deriving the key of a token takes a quarter of a second of each rank.
[ "$kind" != token ] || export MOIRAI_TOKEN=right

# exec, so that the pid is that of the rank itself.
start_rank()
{
    MOIRAI_RANK=$1
    NCCL_HOSTID=moirai-$1
    export MOIRAI_RANK NCCL_HOSTID
    transport=nccl
    if [ "$1" -eq $((n - 1)) ]; then
        [ "$kind" != token ] || MOIRAI_TOKEN=wrong
        [ "$kind" != mixed ] || transport=tcp
        [ "$kind" != bare ] || export MOIRAI_CUDA=
    fi
    shift
    exec moirai-exec --transport $transport "$@"
}

start_all()
{
    r=0
    while [ $r -lt "$n" ]; do
        start_rank $r "$@" >"$job/out.$r" 2>"$job/err.$r" </dev/null &
        echo $! >"$job/pid.$r"
        r=$((r + 1))
    done
}

# Waits for all ranks; exit statuses are in status.*
wait_for_all()
{
    r=0
    while [ $r -lt "$n" ]; do
        status=0
        wait "$(cat "$job/pid.$r")" 2>/dev/null || status=$?
        echo $status >"$job/status.$r"
        r=$((r + 1))
    done
}

# Watchdog: kills the remaining ranks after that many seconds; to be killed
# when all have ended.
run_watchdog()
{
    sleep "$1"
    touch "$job/late"
    for file in "$job"/pid.*; do
        kill -9 "$(cat "$file")"
    done 2>/dev/null
}

fail_job()
{
    echo "$kind: $*"
    for file in "$job"/err.* "$job"/status.*; do
        [ ! -s "$file" ] || sed "s|^|${file##*/}: |" "$file" | head -n 20
    done
    exit 1
}

all_ended_well()
{
    cat "$job"/status.* | grep -qvx 0 && fail_job "a rank failed"
    grep -q "\"transport\": \"$1\"" "$job/out.0" || fail_job "the transport was not $1"
}

# Every other rank has failed, and its error matches the pattern.
expect_errors_of_others()
{
    r=0
    while [ $r -lt "$n" ]; do
        if [ $r -ne "$1" ]; then
            [ "$(cat "$job/status.$r")" -eq 1 ] || fail_job "rank $r did not fail"
            grep -q "$2" "$job/err.$r" || fail_job "rank $r does not name rank $1"
        fi
        r=$((r + 1))
    done
}

hit=
if [ "$kind" = kill ] || [ "$kind" = stop ]; then
    victim=$1
    moment=$2
    shift 2
    hit=$([ "$kind" = kill ] && echo KILL || echo STOP)
    hit_after=$([ "$kind" = kill ] && echo 0 || echo 8)
fi
start_all "$@"
if [ -n "$hit" ]; then
    sleep "$moment"
    kill -"$hit" "$(cat "$job/pid.$victim")" || fail_job "rank $victim is gone"
    # A stopped rank is detected after the heartbeat timeout of 8 s.
    run_watchdog $((hit_after + soon)) &
else
    run_watchdog "${MOIRAI_JOB_LIMIT:-300}" &
fi
watchdog=$!
if [ "$hit" = STOP ]; then
    # wait would block on the stopped rank: it is killed when the others have
    # ended.
    r=0
    while [ $r -lt "$n" ]; do
        [ $r -eq "$victim" ] || wait "$(cat "$job/pid.$r")" 2>/dev/null
        echo $? >"$job/status.$r"
        r=$((r + 1))
    done
    kill -9 "$(cat "$job/pid.$victim")"
    wait "$(cat "$job/pid.$victim")" 2>/dev/null
else
    wait_for_all
fi
kill "$watchdog" 2>/dev/null
wait "$watchdog" 2>/dev/null
[ ! -e "$job/late" ] || fail_job "a rank hung"

case $kind in
run | bare) all_ended_well nccl ;;
mixed) all_ended_well tcp ;;
kill | stop) expect_errors_of_others "$victim" "rank $victim" ;;
token)
    expect_errors_of_others $((n - 1)) "rank $((n - 1)) .*has another token"
    grep -q 'has another token' "$job/err.$((n - 1))" || fail_job "it got no reason"
    ;;
*) fail_job "there is no such kind" ;;
esac
rm -rf "$job"
