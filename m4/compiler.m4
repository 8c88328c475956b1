# SPDX-License-Identifier: Apache-2.0
# MO_PROG_CC_C11
# AC_PROG_CC of autoconf 2.70 and later chooses C11 where the compiler has it;
# this stops where it has not.
AC_DEFUN([MO_PROG_CC_C11], [
  AC_CACHE_CHECK([whether $CC compiles C11], [mo_cv_c11],
    [AC_COMPILE_IFELSE(
      [AC_LANG_PROGRAM(
        [[#include <stdalign.h>
          _Static_assert(sizeof(void *) >= 4, "pointers");
          struct point { union { int x, y; }; };]],
        [[struct point p = { 0 };
          return _Generic(p.x, int: p.x, default: 1);]])],
      [mo_cv_c11=yes], [mo_cv_c11=no])])
  AS_IF([test "$mo_cv_c11" = no],
    [AC_MSG_ERROR([a C11 compiler is needed; set CC, for example CC="gcc -std=gnu11"])])
])

# MO_TRY_CFLAG(FLAG, VARIABLE)
# Appends FLAG to VARIABLE when the compiler takes it without a word.
AC_DEFUN([MO_TRY_CFLAG], [
  AC_MSG_CHECKING([whether $CC takes $1])
  mo_saved_CFLAGS=$CFLAGS
  CFLAGS="$CFLAGS -Werror $1"
  AC_COMPILE_IFELSE([AC_LANG_PROGRAM([], [])],
    [AC_MSG_RESULT([yes])
     $2="$$2 $1"],
    [AC_MSG_RESULT([no])])
  CFLAGS=$mo_saved_CFLAGS
])

# MO_WARNINGS
# Warnings are always on; --enable-werror makes them errors.
AC_DEFUN([MO_WARNINGS], [
  AC_ARG_ENABLE([werror],
    [AS_HELP_STRING([--enable-werror], [treat warnings as errors])],
    [], [enable_werror=no])
  m4_foreach_w([mo_flag],
    [-Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes
     -Wmissing-prototypes -Wpointer-arith -Wcast-qual -Wwrite-strings],
    [MO_TRY_CFLAG(mo_flag, [MO_CFLAGS])])
  AS_IF([test "$enable_werror" != no], [MO_CFLAGS="$MO_CFLAGS -Werror"])
  AC_SUBST([MO_CFLAGS])
])

# MO_ROUNDING
# Where a processor can, compilers make one instruction of a product and the sum
# it is added to, which rounds once and not twice: the same input would give
# other bytes elsewhere, and a search would go another way.  MO_FUSED_CFLAGS is
# for what is to be fast instead.
AC_DEFUN([MO_ROUNDING], [
  MO_TRY_CFLAG([-ffp-contract=off], [MO_CFLAGS])
  MO_TRY_CFLAG([-ffp-contract=fast], [MO_FUSED_CFLAGS])
  AC_SUBST([MO_FUSED_CFLAGS])
])

# MO_PREFIX_MAP
# Removes the paths of source and build tree from debug information and
# assertions: programs are the same wherever they are built.
AC_DEFUN([MO_PREFIX_MAP], [
  MO_PREFIX_MAP_CFLAGS=
  MO_TRY_CFLAG([-ffile-prefix-map=/nowhere=.], [mo_prefix_map])
  AS_IF([test -n "$mo_prefix_map"],
    [MO_PREFIX_MAP_CFLAGS='-ffile-prefix-map=$(abs_top_builddir)=. -ffile-prefix-map=$(abs_top_srcdir)=.'])
  AC_SUBST([MO_PREFIX_MAP_CFLAGS])
])

# MO_NEED_SANITIZER(FLAG, OPTION)
# Stops unless a program links and runs with FLAG.
AC_DEFUN([MO_NEED_SANITIZER], [
  AC_MSG_CHECKING([whether $CC links with $1])
  mo_saved_CFLAGS=$CFLAGS
  CFLAGS="$CFLAGS $1"
  AC_LINK_IFELSE([AC_LANG_SOURCE([$3])],
    [AC_MSG_RESULT([yes])],
    [AC_MSG_RESULT([no])
     AC_MSG_ERROR([$2 needs a compiler that links with $1])])
  CFLAGS=$mo_saved_CFLAGS
])

# MO_SANITIZERS
# Addresses and undefined behaviour; what they find ends the program.
AC_DEFUN([MO_SANITIZERS], [
  AC_ARG_ENABLE([sanitizers],
    [AS_HELP_STRING([--enable-sanitizers],
      [build with the address and undefined-behaviour sanitizers])],
    [], [enable_sanitizers=no])
  AS_IF([test "$enable_sanitizers" != no],
    [MO_NEED_SANITIZER([-fsanitize=address,undefined],
       [--enable-sanitizers], [int main(void) { return 0; }])
     MO_CFLAGS="$MO_CFLAGS -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer"
     # 128-bit products that are checked for overflow are of Clang's runtime,
     # which it does not link by default.
     mo_cflags=$CFLAGS
     CFLAGS="$CFLAGS -fsanitize=undefined"
     AC_LINK_IFELSE(
       [AC_LANG_SOURCE([[int main(int n, char **v)
          { volatile __int128 a = n, b = (long) v; return (int) (a * b); }]])],
       [], [LDFLAGS="$LDFLAGS -rtlib=compiler-rt"])
     CFLAGS=$mo_cflags])
  AM_CONDITIONAL([ENABLE_SANITIZERS], [test "$enable_sanitizers" != no])
])

# MO_FUZZING
# The library is instrumented as a whole; only the fuzzers link libFuzzer's
# main. Without the sanitizers, --enable-fuzzing=fast, a fuzzer executes several
# times as many inputs; assertions and crashes are findings all the same.
AC_DEFUN([MO_FUZZING], [
  AC_ARG_ENABLE([fuzzing],
    [AS_HELP_STRING([--enable-fuzzing@<:@=fast@:>@],
      [build the libFuzzer targets (needs CC=clang), with the address and
       undefined-behaviour sanitizers unless fast])],
    [], [enable_fuzzing=no])
  AS_CASE([$enable_fuzzing],
    [fast], [mo_fuzzing_sanitizers=],
    [mo_fuzzing_sanitizers=,address,undefined])
  AS_IF([test "$enable_fuzzing" != no],
    [MO_NEED_SANITIZER([-fsanitize=fuzzer$mo_fuzzing_sanitizers],
       [--enable-fuzzing],
       [int LLVMFuzzerTestOneInput(const char *data, unsigned long size);
        int LLVMFuzzerTestOneInput(const char *data, unsigned long size)
        { return data && size > 1000000; }])
     MO_CFLAGS="$MO_CFLAGS -fsanitize=fuzzer-no-link$mo_fuzzing_sanitizers -fno-sanitize-recover=all"
     # Smaller limits and first blocks: more executions.
     MO_CFLAGS="$MO_CFLAGS -DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION"
     # 128-bit products that are checked for overflow are of the runtime.
     FUZZER_LDFLAGS="-fsanitize=fuzzer -rtlib=compiler-rt"])
  AC_SUBST([FUZZER_LDFLAGS])
  AM_CONDITIONAL([ENABLE_FUZZING], [test "$enable_fuzzing" != no])
])
