# ranks.sh - sourced behind tap.sh by the tests that start ranks of MPI.
#
#     ranks_or_skip                      # MPI is there, and built in
#     ranks 3 seed=7                     # mpirun -n 3 exec_fault seed=7
#
# leaves the status in $status, and what was said in out and err; $status is 124
# after 30 seconds.
# shellcheck shell=sh disable=SC2034,SC2154

# Tests may be run by root, and on fewer processors than there are ranks.
OMPI_ALLOW_RUN_AS_ROOT=1
OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
OMPI_MCA_rmaps_base_oversubscribe=1
# Containers do not let processes read each other's memory.
OMPI_MCA_btl_vader_single_copy_mechanism=none
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM
export OMPI_MCA_rmaps_base_oversubscribe
export OMPI_MCA_btl_vader_single_copy_mechanism
# What MPI itself keeps and locks is not ours.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
TSAN_OPTIONS=${TSAN_OPTIONS:+$TSAN_OPTIONS:}detect_deadlocks=0
export ASAN_OPTIONS TSAN_OPTIONS
unset MOIRAI_TRANSPORT

exec_fault=$top_builddir/tests/exec_fault

ranks_or_skip()
{
    [ -x "$exec_fault" ] || skip_all "tests/exec_fault is not built"
    command -v mpirun >/dev/null || skip_all "there is no mpirun"
    command -v timeout >/dev/null || skip_all "there is no timeout"
    MOIRAI_TRANSPORT=mpi "$exec_fault" calls=1 >"$work/out" 2>&1 ||
        ! grep -q 'this build cannot do it' "$work/out" ||
        skip_all "MPI is not built in"
}

ranks()
{
    ranks_n=$1
    shift
    status=0
    timeout 30 mpirun -n "$ranks_n" "$exec_fault" "$@" \
        >"$work/out" 2>"$work/err" </dev/null || status=$?
}
