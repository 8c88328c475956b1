#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers
# The unit tests of calls and operators, written for the CPU backend, hold for
# the CUDA backend: on the stand-in for a GPU, or on a GPU if MOIRAI_TEST_GPU
# is set. The stand-in compiles a kernel for each case: one of 48, in .ci/run
# one of 16, with MOIRAI_LONG all.
. "${top_srcdir:=.}/tests/support/tap.sh"

programs='
    exec/cpu/cpu_attention exec/cpu/cpu_conv exec/op/op_generate
    exec/op/op_gather_scatter exec/op/op_interpolate exec/op/op_pointwise
    exec/cpu/cpu_matmul exec/op/op_movement exec/op/op_norm
    exec/cpu/cpu_pointwise exec/cpu/cpu_pool exec/op/op_product
    exec/op/op_rearrange exec/op/op_reduce exec/op/op_window'

standin=$top_builddir/tests/standin/standin_cuda.so
[ -e "$standin" ] || skip_all "this is built without CUDA, or without tests"
if [ -z "$MOIRAI_TEST_GPU" ]; then
    MOIRAI_CUDA=$standin MOIRAI_NVRTC=$standin MOIRAI_CUBLASLT='' MOIRAI_CUDNN=''
    export MOIRAI_CUDA MOIRAI_NVRTC MOIRAI_CUBLASLT MOIRAI_CUDNN
    MOIRAI_TEST_PART=$(cases 48/48 16/16 1/1)
    export MOIRAI_TEST_PART
fi

# Kernels are compiled once for all; units are opened once in a process.
MOIRAI_TEST_BACKEND=cuda MOIRAI_CACHE=$work/cache CK_FORK=no
export MOIRAI_TEST_BACKEND MOIRAI_CACHE CK_FORK

for program in $programs; do
    ok "test_${program##*/} holds" \
        "$top_builddir/tests/${program%/*}/test_${program##*/}"
done
done_testing
