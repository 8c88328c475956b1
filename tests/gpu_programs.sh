#!/bin/sh
# gpu_programs.sh GROUP - test programs on a GPU, those with many cases in as
# many processes as there are processors.
group=$1
. "${top_srcdir:=.}/tests/gpu_jobs.sh"

[ -x "$top_builddir/tests/test_cuda_unit" ] ||
    skip_group "this is built without Check or without CUDA"

# The driver does not live in children that are forked after it was opened.
CK_FORK=no
export CK_FORK
parts=8

# program NAME: in one process; shared NAME: in several.
program()
{
    job "$1" "$top_builddir/tests/test_$1"
}

shared()
{
    for part in $(seq "$parts"); do
        job "$1-$part" env MOIRAI_TEST_PART="$part/$parts" \
            "$top_builddir/tests/test_$1"
    done
}

# The sum of a count that Check tells.
sum()
{
    cat "$dir"/*.log | sed -n "s/^.*$1: \([0-9]*\).*\$/\1/p" |
        awk '{ n += $1 } END { print n + 0 }'
}

case $group in
unit)
    for name in cuda_unit cuda_cache cuda_gemm cuda_code joint_cuda; do
        program "$name"
    done
    ;;
calls)
    for name in cuda_calls cuda_lines cuda_windows cuda_moves; do
        shared "$name"
    done
    program cuda_attention
    ;;
ways)
    shared cuda_ways
    shared cuda_tensor
    ;;
memory)
    shared cuda_memory
    ;;
claims)
    # What is claimed of operators on processors holds here, too; but every
    # random case is a kernel to be compiled.
    MOIRAI_TEST_BACKEND=cuda
    [ -z "${MOIRAI_TEST_GPU:-}" ] || MOIRAI_TEST_GPU=watched
    export MOIRAI_TEST_BACKEND
    parts=4
    for name in attention conv create index interpolate lower_point matmul \
        move norm point pool product rearrange reduce window; do
        shared "$name"
    done
    ;;
esac

run_jobs 150
conclude "$(find "$dir" -name '*.job' | sed 's/-[0-9]*[.]job//' | sort -u |
    wc -l) programs, $(sum Checks) checks, $(sum Failures) wrong"
