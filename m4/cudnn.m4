# SPDX-License-Identifier: Apache-2.0
# MO_CUDNN
# Of use only with CUDA, whose headers its own includes; looked for beside it,
# then where the compiler looks.
AC_DEFUN([MO_CUDNN], [
  AC_REQUIRE([MO_CUDA])
  MO_WITH([cudnn], [$CUDA_DIR system])
  test -n "$CUDA_DIR" || mo_dirs=
  mo_saved_CFLAGS=$CFLAGS
  CFLAGS="$CFLAGS $CUDA_CFLAGS"
  MO_FIND_HEADER([CUDNN], [cudnn.h], [cudnnBackendDescriptor_t descriptor;])
  AS_IF([test "$mo_found" = yes],
    [MO_CONSTANT([mo_major], [CUDNN], [cudnn.h], [CUDNN_MAJOR])
     MO_CONSTANT([mo_minor], [CUDNN], [cudnn.h], [CUDNN_MINOR])])
  CFLAGS=$mo_saved_CFLAGS
  MO_CONCLUDE([cudnn], [CUDNN], [cuDNN], [$mo_major.$mo_minor],
    [fused convolutions and attention on GPUs])
])
