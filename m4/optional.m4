# SPDX-License-Identifier: Apache-2.0
# What the probes of optional parts share.  Each part has a file of its own
# with one macro, MO_<PART>.  It sets <PART>_CFLAGS and <PART>_LIBS, the
# conditional HAVE_<PART>, and its row of the closing table.

# MO_WITH(NAME, DEFAULT-DIRS)
# Adds --with-NAME[=DIR].  Sets mo_dirs to the folders to search, and mo_found
# to "off" when the user said --without-NAME, else to "no".  A folder is an
# installation prefix; "system" is where the compiler looks by itself.
AC_DEFUN([MO_WITH], [
  AC_ARG_WITH([$1],
    [AS_HELP_STRING([--with-$1@<:@=DIR@:>@], [use $1, installed in DIR])],
    [], [with_$1=auto])
  mo_found=no
  AS_CASE([$with_$1],
    [no], [mo_dirs= mo_found=off],
    [yes|auto], [mo_dirs="$2"],
    [mo_dirs=$with_$1])
])

# MO_LINKS(CPPFLAGS, LIBS, HEADER, CALL, [IF-SO])
AC_DEFUN([MO_LINKS], [
  mo_saved_CPPFLAGS=$CPPFLAGS
  mo_saved_LIBS=$LIBS
  CPPFLAGS="$CPPFLAGS $1"
  LIBS="$2 $LIBS"
  AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <$3>]], [[$4;]])], [$5])
  CPPFLAGS=$mo_saved_CPPFLAGS
  LIBS=$mo_saved_LIBS
])

# MO_FIND(PART, HEADER, LIBRARY, CALL)
# Searches mo_dirs for the first folder with which CALL links.  On success
# mo_found is "yes", mo_dir the folder, and the flags of PART are set.
AC_DEFUN([MO_FIND], [
  AC_MSG_CHECKING([for $2 and lib$3])
  for mo_dir in $mo_dirs; do
    AS_IF([test "$mo_dir" = system],
      [MO_LINKS([], [-l$3], [$2], [$4],
         [mo_found=yes $1_CFLAGS= $1_LIBS="-l$3"])],
      [test -r "$mo_dir/include/$2"],
      [for mo_lib in lib64 lib "lib/$host_cpu-linux-gnu"; do
         test -d "$mo_dir/$mo_lib" || continue
         MO_LINKS(["-I$mo_dir/include"], ["-L$mo_dir/$mo_lib" -l$3], [$2],
           [$4], [mo_found=yes
                  $1_CFLAGS=-I$mo_dir/include
                  $1_LIBS="-L$mo_dir/$mo_lib -l$3"])
         test "$mo_found" = yes && break
       done])
    test "$mo_found" = yes && break
  done
  AC_MSG_RESULT([$mo_found])
])

# MO_FIND_HEADER(PART, HEADER, DECLARATIONS)
# As MO_FIND, for what is only looked for when it runs: searches mo_dirs for
# the first folder whose HEADER compiles with DECLARATIONS behind it.
AC_DEFUN([MO_FIND_HEADER], [
  AC_MSG_CHECKING([for $2])
  for mo_dir in $mo_dirs; do
    mo_flags=
    AS_IF([test "$mo_dir" != system], [mo_flags="-isystem $mo_dir/include"])
    mo_saved_CPPFLAGS=$CPPFLAGS
    CPPFLAGS="$CPPFLAGS $mo_flags"
    AC_COMPILE_IFELSE([AC_LANG_SOURCE([[#include <$2>
      $3]])], [mo_found=yes $1_CFLAGS=$mo_flags])
    CPPFLAGS=$mo_saved_CPPFLAGS
    test "$mo_found" = yes && break
  done
  AC_MSG_RESULT([$mo_found])
])

# MO_CONSTANT(VARIABLE, PART, HEADER, EXPRESSION)
# Sets VARIABLE to what EXPRESSION is in HEADER of PART.
AC_DEFUN([MO_CONSTANT], [
  mo_saved_CPPFLAGS=$CPPFLAGS
  CPPFLAGS="$CPPFLAGS $$2_CFLAGS"
  AC_COMPUTE_INT([$1], [$4], [[#include <$3>]], [$1=0])
  CPPFLAGS=$mo_saved_CPPFLAGS
])

# MO_CONCLUDE(NAME, PART, LABEL, VERSION, ADDS)
# Ends a probe: what the user asked for by name and is not there is an error.
AC_DEFUN([MO_CONCLUDE], [
  AS_IF([test "$mo_found" = no && test "$with_$1" != auto],
    [AC_MSG_ERROR([--with-$1=$with_$1: $1 was not found there])])
  AS_IF([test "$mo_found" = yes], [mo_version=$4], [mo_version=$mo_found])
  AC_SUBST([$2_CFLAGS])
  AC_SUBST([$2_LIBS])
  AM_CONDITIONAL([HAVE_$2], [test "$mo_found" = yes])
  MO_PART([$3], [$mo_version], [$5])
])
