# SPDX-License-Identifier: Apache-2.0
# MO_TRY_HARDENING(FLAG, VARIABLE)
# Appends FLAG to VARIABLE when a program compiles and links with it and without
# a warning, in one step and in two: clang reports a flag it does not use only
# when it compiles without linking.  The program has a buffer to protect, and a
# header that -D changes.
AC_DEFUN([MO_TRY_HARDENING], [
  AC_MSG_CHECKING([whether $CC hardens with $1])
  mo_saved_CFLAGS=$CFLAGS
  CFLAGS="$CFLAGS -Werror $1"
  AC_LANG_CONFTEST(
    [AC_LANG_PROGRAM([[#include <stdio.h>]],
      [[char text[64]; return snprintf(text, sizeof text, "%d", 1) < 0;]])])
  mo_accepted=no
  AC_LINK_IFELSE([], [mo_accepted=yes])
  m4_if([$2], [MO_CFLAGS], [AC_COMPILE_IFELSE([], [], [mo_accepted=no])])
  rm -f conftest.$ac_ext
  AC_MSG_RESULT([$mo_accepted])
  AS_IF([test $mo_accepted = yes],
    [$2="$$2 $1"
     mo_hardening="$mo_hardening $1"])
  CFLAGS=$mo_saved_CFLAGS
])

# MO_HARDENING
# Flags that turn many faults of memory into an end of the program, where the
# compiler and the linker have them.  _FORTIFY_SOURCE needs optimization, is no
# use beside a sanitizer, and may have been chosen already.
AC_DEFUN([MO_HARDENING], [
  AC_ARG_ENABLE([hardening],
    [AS_HELP_STRING([--disable-hardening],
      [build without stack protectors, _FORTIFY_SOURCE, full RELRO and the like])],
    [], [enable_hardening=yes])
  MO_LDFLAGS=
  mo_hardening=
  AS_IF([test "$enable_hardening" != no], [
    AS_CASE([" $CPPFLAGS $CFLAGS $MO_CFLAGS "],
      [*_FORTIFY_SOURCE*|*" -O0 "*|*-fsanitize*], [],
      [MO_TRY_HARDENING([-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3], [MO_CFLAGS])])
    MO_TRY_HARDENING([-fstack-protector-strong], [MO_CFLAGS])
    MO_TRY_HARDENING([-fstack-clash-protection], [MO_CFLAGS])
    MO_TRY_HARDENING([-fcf-protection=full], [MO_CFLAGS])
    MO_TRY_HARDENING([-mbranch-protection=standard], [MO_CFLAGS])
    AC_COMPILE_IFELSE(
      [AC_LANG_SOURCE([[#ifndef __PIE__
                        #error
                        #endif
                        int unused;]])],
      [mo_hardening="$mo_hardening pie"],
      [MO_TRY_HARDENING([-fPIE -pie], [mo_pie])
       AS_IF([test -n "$mo_pie"],
         [MO_CFLAGS="$MO_CFLAGS -fPIE"
          MO_LDFLAGS="$MO_LDFLAGS -pie"])])
    MO_TRY_HARDENING([-Wl,-z,relro], [MO_LDFLAGS])
    MO_TRY_HARDENING([-Wl,-z,now], [MO_LDFLAGS])
    MO_TRY_HARDENING([-Wl,-z,noexecstack], [MO_LDFLAGS])
  ])
  MO_HARDENED=$mo_hardening
  AC_SUBST([MO_LDFLAGS])
  AC_SUBST([MO_HARDENED])
])
