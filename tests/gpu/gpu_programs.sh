#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# gpu_programs.sh GROUP - unit tests on a GPU, those with many cases in as many
# processes as there are cores.
group=$1
. "${top_srcdir:=.}/tests/gpu/gpu_jobs.sh"

[ -x "$top_builddir/tests/exec/cuda/test_cuda_unit" ] ||
    skip_group "this is built without Check or without CUDA"

# The CUDA driver does not work in children forked after it was initialized.
CK_FORK=no
export CK_FORK
parts=8

# Prints the path of a test program, given as exec/cuda/cuda_unit.
path_of()
{
    echo "$top_builddir/tests/${1%/*}/test_${1##*/}"
}

# program NAME: in one process; shared NAME: in several.
program()
{
    job "${1##*/}" "$(path_of "$1")"
}

shared()
{
    for part in $(seq "$parts"); do
        job "${1##*/}-$part" env MOIRAI_TEST_PART="$part/$parts" \
            "$(path_of "$1")"
    done
}

# Prints the sum of a count in the output of Check.
sum()
{
    cat "$dir"/*.log | sed -n "s/^.*$1: \([0-9]*\).*\$/\1/p" |
        awk '{ n += $1 } END { print n + 0 }'
}

case $group in
unit)
    for name in exec/cuda/cuda_unit exec/cuda/cuda_disk_cache \
        exec/cuda/cuda_gemm_layout exec/cuda/cuda_codegen \
        exec/runtime/joint_cuda; do
        program "$name"
    done
    ;;
calls)
    for name in exec/cuda/cuda_calls exec/cuda/cuda_row_kernels \
        exec/cuda/cuda_window_kernels exec/cuda/cuda_pointwise_copy; do
        shared "$name"
    done
    program exec/cuda/cuda_attention
    program exec/cuda/cuda_linear
    ;;
ways)
    shared exec/cuda/cuda_algo
    shared exec/cuda/cuda_tensorcore
    ;;
memory)
    shared exec/cuda/cuda_run_memory
    ;;
claims)
    # The unit tests of operators, written for the CPU, hold here, too; but
    # every random case is a kernel to be compiled.
    MOIRAI_TEST_BACKEND=cuda
    [ -z "${MOIRAI_TEST_GPU:-}" ] || MOIRAI_TEST_GPU=watched
    export MOIRAI_TEST_BACKEND
    parts=4
    for name in exec/cpu/cpu_attention exec/cpu/cpu_conv exec/op/op_generate \
        exec/op/op_gather_scatter exec/op/op_interpolate exec/op/op_pointwise \
        exec/cpu/cpu_matmul exec/op/op_movement exec/op/op_norm \
        exec/cpu/cpu_pointwise exec/cpu/cpu_pool exec/op/op_product \
        exec/op/op_rearrange exec/op/op_reduce exec/op/op_window; do
        shared "$name"
    done
    ;;
esac

run_jobs 150
conclude "$(find "$dir" -name '*.job' | sed 's/-[0-9]*[.]job//' | sort -u |
    wc -l) programs, $(sum Checks) checks, $(sum Failures) wrong"
