#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# gpu_sanitizer.sh - compute-sanitizer finds no invalid memory access and no
# race in shared memory in a few cases of every kind of kernel.
group=sanitizer
. "${top_srcdir:=.}/tests/gpu/gpu_jobs.sh"

PATH=$PATH:/usr/local/cuda/bin
command -v compute-sanitizer >/dev/null ||
    skip_group "there is no compute-sanitizer on PATH"

CK_FORK=no MOIRAI_OPS_CASES=2
export CK_FORK MOIRAI_OPS_CASES
[ -z "${MOIRAI_TEST_GPU:-}" ] || MOIRAI_TEST_GPU=watched

# watched TOOL NAME COMMAND...
watched()
{
    tool=$1
    name=$2
    shift 2
    # Some tests are of calls that fail.
    job "$tool-$name" compute-sanitizer --tool "$tool" --error-exitcode 9 \
        --report-api-errors no --print-limit 5 "$@"
}

# Races are checked in our own kernels only: in the libraries this would take
# long.
watch_all()
{
    libraries=
    [ "$1" = memcheck ] || libraries='MOIRAI_CUBLASLT= MOIRAI_CUDNN='
    for part in 1 2 3 4; do
        for name in calls row_kernels pointwise_copy window_kernels tensorcore; do
            # shellcheck disable=SC2086 # these are words
            watched "$1" "$name-$part" env $libraries \
                MOIRAI_TEST_PART="$part/4" \
                "$top_builddir/tests/exec/cuda/test_cuda_$name"
        done
    done
    # shellcheck disable=SC2086
    watched "$1" attention env $libraries \
        "$top_builddir/tests/exec/cuda/test_cuda_attention"
    # shellcheck disable=SC2086
    watched "$1" unit env $libraries "$top_builddir/tests/exec/cuda/test_cuda_unit"
    for precision in f32 tf32 f16; do
        # shellcheck disable=SC2086
        watched "$1" "network-$precision" env $libraries \
            moirai-exec -q --backend cuda --no-measure --runs 2 \
            --precision $precision \
            "$top_srcdir/examples/two_branches/model.xml"
    done
}

watch_all memcheck
watch_all racecheck
run_jobs 170
conclude "memcheck and racecheck, \
$(find "$dir" -name '*.job' | wc -l) runs"
