# SPDX-License-Identifier: Apache-2.0
# MO_MPI
# Open MPI and MPICH both tell their flags through mpicc -show; taking them
# from there keeps one compiler for everything.
AC_DEFUN([MO_MPI], [
  MO_WITH([mpi], [system])
  AS_CASE([$mo_dirs],
    [system], [mo_path=$PATH],
    [mo_path=$mo_dirs/bin])
  AS_IF([test -n "$mo_dirs"],
    [AC_PATH_PROG([MPICC], [mpicc], [], [$mo_path])])

  AS_IF([test -n "$MPICC"],
    [MPI_CFLAGS= MPI_LIBS=
     for mo_word in `$MPICC -show | sed 's/^@<:@^ @:>@* *//'`; do
       AS_CASE([$mo_word],
         [-L*|-l*|-Wl,*], [MPI_LIBS="$MPI_LIBS $mo_word"],
         [-*], [MPI_CFLAGS="$MPI_CFLAGS $mo_word"])
     done
     AC_MSG_CHECKING([whether MPI programs link])
     MO_LINKS([$MPI_CFLAGS], [$MPI_LIBS], [mpi.h], [MPI_Init(0, 0)],
       [mo_found=yes])
     AC_MSG_RESULT([$mo_found])])
  AS_IF([test "$mo_found" = yes],
    [MO_CONSTANT([mo_major], [MPI], [mpi.h], [MPI_VERSION])
     MO_CONSTANT([mo_minor], [MPI], [mpi.h], [MPI_SUBVERSION])])
  MO_CONCLUDE([mpi], [MPI], [MPI], ["standard $mo_major.$mo_minor"],
    [execution across hosts (package libopenmpi-dev)])
])
