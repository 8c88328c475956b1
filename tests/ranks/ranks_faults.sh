# SPDX-License-Identifier: Apache-2.0
# ranks_faults.sh - sourced after ranks.sh: fault injection by kill -9 of ranks
# at random moments, from the start to the middle of a run: no rank hangs,
# every other rank names the killed one in one line, no process is left. $kills
# is how often.
# shellcheck shell=sh disable=SC2034,SC2154

[ -d /proc/self ] || skip_all "there is no /proc to look for processes in"

# Our processes have this value in their environment.
MOIRAI_FAULT_TEST=$$-$(date +%s)
export MOIRAI_FAULT_TEST

# Prints the pids of our ranks; with an argument, of that rank.
ours()
{
    grep -lsaF "MOIRAI_FAULT_TEST=$MOIRAI_FAULT_TEST" /proc/[0-9]*/environ |
        sed 's|/proc/||; s|/environ||' | while read -r pid; do
        grep -qsx exec_fault "/proc/$pid/comm" || continue
        [ -z "$1" ] || grep -qsaz "^OMPI_COMM_WORLD_RANK=$1\$" \
            "/proc/$pid/environ" || continue
        echo "$pid"
    done
}

# Seed and bound: prints a pseudo-random number below the bound.
chance()
{
    awk -v i="$1" -v n="$2" 'BEGIN { srand(i); rand(); print int(rand() * n) }'
}

all_here()
{
    [ "$(find "$work/here" -name 'begun.*' | wc -l)" -eq "$n" ]
}

all_gone()
{
    [ -z "$(ours)" ]
}

# Every rank but the victim has printed one line, and it names the victim.
# mpirun sends SIGKILL to the others a second after the death of one, which on a
# busy machine may come before their line: then unprinted is set, and nothing
# else is wrong.
all_name_victim()
{
    unprinted=
    r=0
    while [ $r -lt "$n" ]; do
        if [ $r -ne "$victim" ]; then
            errors=$work/here/errors.$r
            if [ "$ranks_by" = mpi ] && [ ! -s "$errors" ]; then
                unprinted=$r
                r=$((r + 1))
                continue
            fi
            [ -e "$errors" ] && [ "$(wc -l <"$errors")" -eq 1 ] &&
                grep -Eq -e ": rank $victim .*(is gone|cannot be reached)" \
                    -e ": ranks ([0-9]+, )*$victim(, [0-9]+)* are gone" \
                    "$errors" || return 1
        fi
        r=$((r + 1))
    done
}

ranks_limit=90
hangs=0
silent=0
killed=0
survived=0
i=0
while [ $i -lt "$kills" ]; do
    n=$((2 + i % 3))
    victim=$(chance $i $n)
    rm -rf "$work/here"
    mkdir "$work/here"
    {
        ranks $n slow runs=100000 here="$work/here"
        echo $status >"$work/status"
    } &
    pid=$!
    await all_here
    sleep "$(awk -v i="$(chance $((i + 7777)) 400)" \
        'BEGIN { printf "%.3f", 0.02 + i / 1000 }')"
    kill -9 "$(ours "$victim")"
    wait $pid
    if [ "$(cat "$work/status")" -eq 0 ]; then
        survived=$((survived + 1))
        echo "# kill $i: rank $victim of $n: the others succeeded"
    fi
    if [ "$(cat "$work/status")" -eq 124 ] || ! await all_gone; then
        hangs=$((hangs + 1))
        echo "# kill $i: rank $victim of $n: still there: $(ours | tr '\n' ' ')"
        for rank in $(ours); do
            kill -9 "$rank"
        done
    fi
    if ! all_name_victim; then
        silent=$((silent + 1))
        echo "# kill $i: rank $victim of $n"
        cat "$work/here"/errors.* "$work/err" 2>&1 | comment
    fi
    if [ -n "$unprinted" ]; then
        killed=$((killed + 1))
        echo "# kill $i: rank $victim of $n: mpirun has killed rank $unprinted"
    fi
    i=$((i + 1))
done
is "$kills kills: no rank hangs" $hangs 0
is "all runs fail" $survived 0
is "all others name the killed rank" $silent 0
[ "$ranks_by" != mpi ] ||
    ok "and mpirun leaves them the time for it, nine times in ten" \
        test $((10 * killed)) -le $((kills + 9))
