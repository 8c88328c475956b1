# SPDX-License-Identifier: Apache-2.0
# MO_CUDA
# Headers alone: the driver and all libraries are looked for when a GPU is used
# (exec/backend/cuda/driver/cuda_api.h), so that what is built here runs without them.
# CUDA_DIR is where the probes of the libraries look next.
AC_DEFUN([MO_CUDA], [
  AC_PATH_PROG([NVCC], [nvcc], [], [$PATH$PATH_SEPARATOR/usr/local/cuda/bin])
  mo_nvcc_dir=
  AS_IF([test -n "$NVCC"],
    [mo_nvcc_dir=`dirname "$NVCC"`
     mo_nvcc_dir=`dirname "$mo_nvcc_dir"`])
  MO_WITH([cuda], [$mo_nvcc_dir /usr/local/cuda /opt/cuda system])
  MO_FIND_HEADER([CUDA], [cuda.h],
    [#include <nvrtc.h>
     CUlaunchConfig config; nvrtcProgram program;])
  AS_IF([test "$mo_found" = yes],
    [CUDA_DIR=$mo_dir
     MO_CONSTANT([mo_major], [CUDA], [cuda.h], [CUDA_VERSION / 1000])
     MO_CONSTANT([mo_minor], [CUDA], [cuda.h], [CUDA_VERSION % 1000 / 10])])
  MO_CONCLUDE([cuda], [CUDA], [CUDA], [$mo_major.$mo_minor],
    [execution on NVIDIA GPUs (headers of CUDA 12 or later)])
])

# MO_CUBLASLT
AC_DEFUN([MO_CUBLASLT], [
  AC_REQUIRE([MO_CUDA])
  MO_WITH([cublaslt], [$CUDA_DIR system])
  test -n "$CUDA_DIR" || mo_dirs=
  mo_saved_CFLAGS=$CFLAGS
  CFLAGS="$CFLAGS $CUDA_CFLAGS"
  MO_FIND_HEADER([CUBLASLT], [cublasLt.h], [cublasLtHandle_t handle;])
  AS_IF([test "$mo_found" = yes],
    [MO_CONSTANT([mo_major], [CUBLASLT], [cublasLt.h], [CUBLAS_VER_MAJOR])
     MO_CONSTANT([mo_minor], [CUBLASLT], [cublasLt.h], [CUBLAS_VER_MINOR])])
  CFLAGS=$mo_saved_CFLAGS
  MO_CONCLUDE([cublaslt], [CUBLASLT], [cuBLASLt], [$mo_major.$mo_minor],
    [NVIDIA's own matrix products on GPUs])
])
