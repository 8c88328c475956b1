#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers
# Tests of shared memory between ranks of one host, which met by TCP; and by
# MPI, where there is one.
. "${top_srcdir:=.}/tests/support/tap.sh"
. "$top_srcdir/tests/ranks/ranks.sh"

ranks_or_skip tcp
ranks_use_shm
. "$top_srcdir/tests/ranks/ranks_claims.sh"

# Claim, path: the values of the last job took this path and no other.
by_path()
{
    is "$1" "$(sed -n 's/^right:.*us, //p' "$work/out")" "$2"
}
ranks 2 seed=2
by_path "values go through shared memory" "by shm"
MOIRAI_NO_SHM=1 ranks 2 seed=2
by_path "unless the environment forbids it" "by messages"

# Ranks of one job need not agree: a rank without shared memory uses TCP.
some_ranks_share()
{
    ranks_n=3
    ranks_jobs=some
    : >"$work/out"
    : >"$work/err"
    pids=
    for ranks_r in 0 1 2; do
        if [ $ranks_r -eq "$1" ]; then
            MOIRAI_NO_SHM=1 ranks_one "$exec_fault" seed=5 &
        else
            ranks_one "$exec_fault" seed=5 &
        fi
        pids="$pids $!"
    done
    # Pids are words.
    # shellcheck disable=SC2086
    ranks_wait $pids
    [ $status -eq 0 ] && grep -q '^right: ' "$work/out"
}
ok "the first rank shares no memory" some_ranks_share 0
ok "the last rank shares no memory" some_ranks_share 2
by_path "and the others do" "by shm, by messages"

# The kernel lets no process look into one that is not dumpable, unless it is
# privileged: the segment cannot be opened.
runs_right "ranks that cannot open each other's memory" 2 seed=3 undumpable

# In a namespace of its own a rank has another number than outside.
if unshare --pid --fork --mount-proc true 2>/dev/null; then
    ranks_n=2
    ranks_jobs=namespace
    : >"$work/out"
    : >"$work/err"
    ranks_r=0
    ranks_one unshare --pid --fork --mount-proc "$exec_fault" seed=4 &
    pids=$!
    ranks_r=1
    (ranks_one "$exec_fault" seed=4)
    ranks_wait $pids
    by_path "a rank in another PID namespace" "by messages"
fi

if command -v mpirun >/dev/null &&
    ! MOIRAI_TRANSPORT=mpi "$exec_fault" calls=1 2>&1 |
        grep -q 'this build cannot do it'; then
    ranks_by=mpi
    runs_right "ranks of MPI" 2 seed=2
    by_path "share memory, too" "by shm"
    runs_right "ranks of MPI with two devices each" 2 shared
fi
done_testing
