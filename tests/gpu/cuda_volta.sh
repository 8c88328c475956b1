#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers
# Kernels compile for Volta as well, which NVRTC of CUDA 13 no longer supports:
# with NVRTC of CUDA 12, a dependency of the Python packages of the oracles.
. "${top_srcdir:=.}/tests/support/tap.sh"

[ -e "$top_builddir/tests/exec/cuda/test_cuda_kernel_sources" ] ||
    skip_all "built without CUDA"
[ -n "${MOIRAI_DATA-}" ] || skip_all "the environment has no MOIRAI_DATA"
MOIRAI_NVRTC=$("${MOIRAI_PYTHON:-python3}" -c '
import pathlib, nvidia.cuda_nvrtc
for folder in nvidia.cuda_nvrtc.__path__:
    print(*pathlib.Path(folder).glob("lib/libnvrtc.so.12"))' 2>"$work/err") ||
    skip_all "Python has no nvidia-cuda-nvrtc-cu12: $(tail -n 1 "$work/err")"
export MOIRAI_NVRTC

ok "what stands before every kernel" "$top_builddir/tests/exec/cuda/test_cuda_nvrtc"
MOIRAI_ARCH=70
export MOIRAI_ARCH
ok "kernels of networks" "$top_builddir/tests/exec/cuda/test_cuda_kernel_sources"
done_testing
