# MO_CUDA
# The run-time library and nvcc, from one installation.  CUDA_DIR is where the
# probes of NCCL and cuDNN look next.
AC_DEFUN([MO_CUDA], [
  AC_PATH_PROG([NVCC], [nvcc], [], [$PATH$PATH_SEPARATOR/usr/local/cuda/bin])
  AS_IF([test -n "$NVCC"],
    [mo_nvcc_dir=`dirname "$NVCC"`
     mo_nvcc_dir=`dirname "$mo_nvcc_dir"`])
  MO_WITH([cuda], [$mo_nvcc_dir /usr/local/cuda /opt/cuda /usr])
  MO_FIND([CUDA], [cuda_runtime_api.h], [cudart],
    [int version; cudaRuntimeGetVersion(&version)])
  AS_IF([test "$mo_found" = yes],
    [CUDA_DIR=$mo_dir
     AS_IF([test -x "$CUDA_DIR/bin/nvcc"], [NVCC=$CUDA_DIR/bin/nvcc])
     MO_CONSTANT([mo_major], [CUDA], [cuda_runtime_api.h],
       [CUDART_VERSION / 1000])
     MO_CONSTANT([mo_minor], [CUDA], [cuda_runtime_api.h],
       [CUDART_VERSION % 1000 / 10])])
  AS_IF([test -z "$NVCC" && test "$mo_found" = yes],
    [AC_MSG_NOTICE([CUDA's library is there but nvcc is not; set NVCC])
     mo_found=no])
  MO_CONCLUDE([cuda], [CUDA], [CUDA], [$mo_major.$mo_minor],
    [execution on NVIDIA GPUs (CUDA toolkit 11 or later)])
])
