# SPDX-License-Identifier: Apache-2.0
# MO_NCCL
# Headers alone, as with CUDA (exec/transport/nccl/nccl_api.h), whose own they
# include; looked for beside them, then where the compiler looks.  Versions
# before 2.18 lack what is needed.
AC_DEFUN([MO_NCCL], [
  AC_REQUIRE([MO_CUDA])
  MO_WITH([nccl], [$CUDA_DIR system])
  test -n "$CUDA_DIR" || mo_dirs=
  mo_saved_CFLAGS=$CFLAGS
  CFLAGS="$CFLAGS $CUDA_CFLAGS"
  MO_FIND_HEADER([NCCL], [nccl.h],
    [ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
     int recent@<:@NCCL_VERSION_CODE >= 21800 ? 1 : -1@:>@;])
  AS_IF([test "$mo_found" = yes],
    [MO_CONSTANT([mo_major], [NCCL], [nccl.h], [NCCL_MAJOR])
     MO_CONSTANT([mo_minor], [NCCL], [nccl.h], [NCCL_MINOR])])
  CFLAGS=$mo_saved_CFLAGS
  MO_CONCLUDE([nccl], [NCCL], [NCCL], [$mo_major.$mo_minor],
    [transfers between GPUs over NVLink and RDMA])
])
