# MO_NCCL
# Of use only with CUDA, whose headers its own includes; looked for beside it,
# then where the compiler looks.
AC_DEFUN([MO_NCCL], [
  AC_REQUIRE([MO_CUDA])
  MO_WITH([nccl], [$CUDA_DIR system])
  test -n "$CUDA_DIR" || mo_dirs=
  mo_saved_CFLAGS=$CFLAGS
  CFLAGS="$CFLAGS $CUDA_CFLAGS"
  MO_FIND([NCCL], [nccl.h], [nccl], [int version; ncclGetVersion(&version)])
  AS_IF([test "$mo_found" = yes],
    [MO_CONSTANT([mo_major], [NCCL], [nccl.h], [NCCL_MAJOR])
     MO_CONSTANT([mo_minor], [NCCL], [nccl.h], [NCCL_MINOR])])
  CFLAGS=$mo_saved_CFLAGS
  MO_CONCLUDE([nccl], [NCCL], [NCCL], [$mo_major.$mo_minor],
    [transfers between GPUs over NVLink and RDMA])
])
