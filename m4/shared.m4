# SPDX-License-Identifier: Apache-2.0
# MO_SHARED
# Objects are compiled once, as position-independent code with hidden symbols,
# and serve the commands, the static and the shared library.  Hidden symbols
# are called directly: the code is that of a position-independent executable.
AC_DEFUN([MO_SHARED], [
  AC_ARG_ENABLE([shared],
    [AS_HELP_STRING([--disable-shared], [build no libmoirai.so])],
    [], [enable_shared=yes])
  AS_IF([test "$enable_sanitizers$enable_fuzzing" != nono], [enable_shared=no])
  MO_TRY_CFLAG([-fPIC], [MO_CFLAGS])
  MO_TRY_CFLAG([-fvisibility=hidden], [MO_CFLAGS])
  AC_CHECK_TOOL([OBJCOPY], [objcopy], [objcopy])
  AM_CONDITIONAL([ENABLE_SHARED], [test "$enable_shared" != no])
])
