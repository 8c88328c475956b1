# SPDX-License-Identifier: Apache-2.0
# ranks.sh - sourced after tap.sh by the tests that start ranks.
#
#     ranks_or_skip mpi                  # MPI is there, and built in; or tcp
#     ranks_use_shm                      # else all values go by that transport
#     ranks 3 seed=7                     # mpirun -n 3 exec_fault seed=7
#
# leaves the status in $status, and the output in out and err; $status is 124
# after 90 seconds, or $ranks_limit.
# shellcheck shell=sh disable=SC2034,SC2154

# Tests may be run by root, and on fewer cores than there are ranks.
OMPI_ALLOW_RUN_AS_ROOT=1
OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
OMPI_MCA_rmaps_base_oversubscribe=1
# In containers processes cannot read each other's memory.
OMPI_MCA_btl_vader_single_copy_mechanism=none
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM
export OMPI_MCA_rmaps_base_oversubscribe
export OMPI_MCA_btl_vader_single_copy_mechanism
# Leaks and lock orders within MPI are suppressed.
ranks_asan_options=${ASAN_OPTIONS-}
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
TSAN_OPTIONS=${TSAN_OPTIONS:+$TSAN_OPTIONS:}detect_deadlocks=0
export ASAN_OPTIONS TSAN_OPTIONS
unset MOIRAI_TRANSPORT MOIRAI_RANK MOIRAI_RANKS MOIRAI_MASTER MOIRAI_TOKEN
unset MOIRAI_BIND MOIRAI_PATIENCE RANK WORLD_SIZE MASTER_ADDR MASTER_PORT

# All ranks are on this host.
MOIRAI_NO_SHM=1
export MOIRAI_NO_SHM
ranks_use_shm()
{
    unset MOIRAI_NO_SHM
}

exec_fault=$top_builddir/tests/ranks/exec_fault

# Waits for a condition, half a minute at most: the machine may be busy.
await()
{
    awaited_until=$(($(date +%s) + 30))
    until "$@"; do
        [ "$(date +%s)" -lt $awaited_until ] || return
        sleep 0.02
    done
}

ranks_or_skip()
{
    ranks_by=$1
    [ -x "$exec_fault" ] || skip_all "tests/ranks/exec_fault is not built"
    command -v timeout >/dev/null || skip_all "there is no timeout"
    if [ "$ranks_by" = tcp ]; then
        ASAN_OPTIONS=$ranks_asan_options
        return
    fi
    command -v mpirun >/dev/null || skip_all "there is no mpirun"
    MOIRAI_TRANSPORT=mpi "$exec_fault" calls=1 >"$work/out" 2>&1 ||
        ! grep -q 'this build cannot do it' "$work/out" ||
        skip_all "MPI is not built in"
}

# Starts one rank of a job with the variables of mpirun, and all arguments; exec,
# so that the pid is that of timeout, which passes signals on.
ranks_one()
{
    exec env MOIRAI_TRANSPORT=tcp OMPI_COMM_WORLD_SIZE="$ranks_n" \
        OMPI_COMM_WORLD_LOCAL_SIZE="$ranks_n" OMPI_COMM_WORLD_RANK="$ranks_r" \
        OMPI_MCA_ess_base_jobid="test-$$-$ranks_jobs" \
        timeout -k 1 "${ranks_limit:-90}" "$@" >>"$work/out" 2>>"$work/err" \
        </dev/null
}

# Waits for the pids; returns the first status that is not 0.
ranks_wait()
{
    status=0
    for ranks_pid in "$@"; do
        ranks_status=0
        wait "$ranks_pid" || ranks_status=$?
        [ $status -ne 0 ] || status=$ranks_status
    done
}

# Runs any command as that many TCP ranks.  Rank $ranks_stopped, which may stop
# itself, is ended when all others have.
ranks_by_tcp()
{
    ranks_n=$1
    shift
    ranks_jobs=$((${ranks_jobs:-0} + 1))
    ranks_pids=
    : >"$work/out"
    : >"$work/err"
    ranks_r=0
    while [ $ranks_r -lt "$ranks_n" ]; do
        ranks_one "$@" &
        if [ "${ranks_stopped-}" = $ranks_r ]; then
            ranks_last=$!
        else
            ranks_pids="$ranks_pids $!"
        fi
        ranks_r=$((ranks_r + 1))
    done
    # Pids are words.
    # shellcheck disable=SC2086
    ranks_wait $ranks_pids
    if [ -n "${ranks_stopped-}" ]; then
        kill "$ranks_last" 2>/dev/null
        wait "$ranks_last" || :
    fi
}

ranks()
{
    ranks_n=$1
    shift
    status=0
    if [ "$ranks_by" = tcp ]; then
        ranks_by_tcp "$ranks_n" "$exec_fault" "$@"
    else
        timeout "${ranks_limit:-90}" mpirun -n "$ranks_n" "$exec_fault" "$@" \
            >"$work/out" 2>"$work/err" </dev/null || status=$?
    fi
}
