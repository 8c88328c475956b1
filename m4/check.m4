# SPDX-License-Identifier: Apache-2.0
# MO_CHECK
# The unit tests are written with Check; without it they are left out.
AC_DEFUN([MO_CHECK], [
  PKG_CHECK_MODULES([CHECK], [check >= 0.11],
    [mo_check=`$PKG_CONFIG --modversion check 2>/dev/null`
     mo_check=${mo_check:-yes}],
    [mo_check=no])
  AM_CONDITIONAL([HAVE_CHECK], [test "$mo_check" != no])
  MO_PART([Check], [$mo_check], [the unit tests (package check)])
])

# MO_PYTHON
# Some tests compare with networkx and igraph, which ./bootstrap check puts
# into a private folder; MOIRAI_PYTHON names another interpreter.
AC_DEFUN([MO_PYTHON], [
  AC_ARG_VAR([MOIRAI_PYTHON], [Python that has the packages the tests need])
  AC_MSG_CHECKING([for Python])
  AS_IF([test -z "$MOIRAI_PYTHON"],
    [mo_private=`cd "$srcdir" && pwd`/build/python/bin/python
     AS_IF([test -x "$mo_private"], [MOIRAI_PYTHON=$mo_private],
       [test -x /usr/bin/python3], [MOIRAI_PYTHON=/usr/bin/python3])])
  AC_MSG_RESULT([${MOIRAI_PYTHON:-no}])
  mo_python=${MOIRAI_PYTHON:-no}
  MO_PART([Python], [$mo_python], [tests against networkx and igraph])
])

# MO_TEST_LINKER
# Hundreds of unit tests are linked: TEST_LDFLAGS chooses gold where it is, which
# takes half of the time.
AC_DEFUN([MO_TEST_LINKER], [
  AC_MSG_CHECKING([whether $CC links with gold])
  mo_saved_LDFLAGS=$LDFLAGS
  TEST_LDFLAGS=-fuse-ld=gold
  LDFLAGS="$LDFLAGS $TEST_LDFLAGS"
  AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])],
    [AC_MSG_RESULT([yes])],
    [AC_MSG_RESULT([no])
     TEST_LDFLAGS=])
  LDFLAGS=$mo_saved_LDFLAGS
  AC_SUBST([TEST_LDFLAGS])
])
