# SPDX-License-Identifier: Apache-2.0
# MO_BLAS
# Any library with the C interface; OpenBLAS by preference.
AC_DEFUN([MO_BLAS], [
  MO_WITH([blas], [system /usr/local /opt/OpenBLAS])
  mo_call="cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 1)"
  for mo_name in openblas cblas blas; do
    AS_IF([test "$mo_found" = no],
      [MO_FIND([BLAS], [cblas.h], [$mo_name], [$mo_call])
       AS_IF([test "$mo_found" = yes], [mo_blas=$mo_name])])
  done
  MO_CONCLUDE([blas], [BLAS], [BLAS], [$mo_blas],
    [fast matrix products on CPUs (package libopenblas-dev)])
])
