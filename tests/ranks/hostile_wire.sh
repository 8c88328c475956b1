#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers
# A man in the middle between two ranks that knows no token: whatever it does to
# the bytes of any connection, the job ends right, or in one line of each rank;
# values that were changed on their way are never used. MOIRAI_HOSTILE=1 tries
# many more offsets.
. "${top_srcdir:=.}/tests/support/tap.sh"
. "$top_srcdir/tests/ranks/ranks.sh"

ranks_or_skip tcp
mitm=$top_builddir/tests/ranks/mitm.so
[ -e "$mitm" ] || skip_all "mitm.so is not built"
case $mitm in /*) ;; *) mitm=$PWD/$mitm ;; esac

"$top_builddir/tests/ranks/hostile_rank" tls || skip_all "TLS is not built in"

jobs=6

# Two ranks with a token, the second one behind the man in the middle.
job()
{
    name=$1
    next_port
    MOIRAI_RANKS=2 MOIRAI_MASTER=127.0.0.1:$port MOIRAI_TOKEN=a-secret-of-two
    export MOIRAI_RANKS MOIRAI_MASTER MOIRAI_TOKEN
    (
        limit=$((patience + 60))
        MOIRAI_RANK=0 timeout -k 1 $limit "$exec_fault" patience=$patience \
            seed=5 elements=40000 >"$work/$name.0" 2>&1 </dev/null &
        status=0
        MOIRAI_RANK=1 MITM="$2 $work/$name.did" LD_PRELOAD=$mitm \
            timeout -k 1 $limit "$exec_fault" patience=$patience seed=5 \
            elements=40000 >"$work/$name.1" 2>&1 </dev/null || status=$?
        echo $status >"$work/$name.status.1"
        status=0
        wait $! || status=$?
        echo $status >"$work/$name.status.0"
    ) &
    running="$running $!"
    tried="$tried $name"
}

wait_for_jobs()
{
    for pid in $running; do
        wait "$pid"
    done
    running=
}

# Prints what is wrong with a job: nothing when it ended well, or in one line.
judge()
{
    for r in 0 1; do
        status=$(cat "$work/$1.status.$r")
        lines=$(grep -vc '^right: ' "$work/$1.$r")
        if grep -q 'outputs are wrong' "$work/$1.$r"; then
            echo "$1: rank $r has used changed values"
        elif [ "$status" -eq 0 ] && [ "$lines" -eq 0 ]; then
            [ $r -eq 1 ] || grep -q '^right: ' "$work/$1.0" ||
                echo "$1: rank 0 has printed nothing"
        elif [ "$status" -ne 1 ] || [ "$lines" -ne 1 ]; then
            echo "$1: rank $r ends with $status: $(head -3 "$work/$1.$r")"
        fi
    done
}

tried=
running=
patience=300
job nothing "pass -1 out 0"
wait_for_jobs
ok "nothing changed: the job is right" grep -q '^right: ' "$work/nothing.0"
cat "$work/nothing.0" "$work/nothing.1" | grep -v '^right: ' | comment
# Of those below many end only with it.
patience=8

# Connections: 0 to the rendezvous, 1 for control, 2 for data.
offsets="5 40 300 2000"
[ -z "${MOIRAI_HOSTILE-}" ] ||
    offsets="0 1 9 17 30 50 77 100 200 400 700 1000 1500 2500 5000 20000"
n=0
for connection in 0 1 2; do
    turn=0
    for direction in out in; do
        [ $direction = out ] || turn=1
        # Values that are held back forever are no error: as long as a rank is
        # alive it may need that long.
        kinds="flip drop repeat swap cut"
        [ $connection -eq 2 ] || kinds="$kinds hold"
        for kind in $kinds; do
            # Every other kind in each direction; in .ci/run all of them.
            turn=$((turn + 1))
            [ -n "${MOIRAI_HOSTILE-}" ] || in_ci ||
                [ $((turn % 2)) -eq 0 ] || continue
            at=0
            for offset in $offsets; do
                at=$((at + 1))
                # Of each kind one offset, unless all are wanted.
                [ -n "${MOIRAI_HOSTILE-}" ] ||
                    [ $(((n + at) % 4)) -eq 0 ] || continue
                job "$kind-$connection-$direction-$offset" \
                    "$kind $connection $direction $offset"
                [ $(($(echo "$tried" | wc -w) % jobs)) -ne 0 ] || wait_for_jobs
            done
            n=$((n + 1))
        done
    done
done
# Values themselves, far into the data connection.
for direction in out in; do
    for kind in flip drop repeat swap; do
        job "$kind-values-$direction" "$kind 2 $direction 100000"
    done
    wait_for_jobs
done

for name in $tried; do
    judge "$name"
done >"$work/bad"
comment <"$work/bad"
is "no wrong value, no crash, no hang in $(echo "$tried" | wc -w) jobs" \
    "$(wc -l <"$work/bad" | tr -d ' ')" 0
tampered=$(cat "$work"/*.did 2>/dev/null | wc -l)
ok "and most of them were tampered with" \
    test "$tampered" -gt $(($(echo "$tried" | wc -w) / 2))
ended=$(cat "$work"/*.status.0 | grep -cv '^0$')
ok "which some noticed" test "$ended" -gt 0
done_testing
