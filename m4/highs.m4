# SPDX-License-Identifier: Apache-2.0
# MO_HIGHS
# The default solver.  It is never linked: moirai-solve loads it at run time,
# so only the place of the library and of its C header matters.  The packaged
# one of ./bootstrap is in the private Python folder, which MOIRAI_PYTHON names
# where the source is elsewhere; since that goes away with the tree, make
# install copies it (HIGHS_PREFIX), unless it is the system's.  Programs that
# run from the build tree find both in the file build-paths; no program has
# them compiled in.
AC_DEFUN([MO_HIGHS], [
  mo_private=`cd "$srcdir" && pwd`/build/python
  mo_python_prefix=
  AS_IF([test -n "$MOIRAI_PYTHON"],
    [mo_python_prefix=`AS_DIRNAME(["$MOIRAI_PYTHON"])`
     mo_python_prefix=${mo_python_prefix%/bin}])
  mo_box=site-packages/highsbox/highs_dist
  for mo_dir in "$mo_private"/lib/python3*/$mo_box \
    "$mo_python_prefix"/lib/python3*/$mo_box; do
    test -d "$mo_dir" && break
  done
  mo_pc=`$PKG_CONFIG --variable=prefix highs 2>/dev/null`
  MO_WITH([highs], [$mo_pc $mo_dir /usr /usr/local /opt/highs])

  AC_MSG_CHECKING([for the HiGHS library])
  HIGHS_LIBRARY=
  for mo_dir in $mo_dirs; do
    test -r "$mo_dir/include/highs/interfaces/highs_c_api.h" || continue
    for mo_lib in lib64 lib "lib/$host_cpu-linux-gnu"; do
      AS_IF([test -r "$mo_dir/$mo_lib/libhighs.so"],
        [mo_found=yes
         HIGHS_LIBRARY=$mo_dir/$mo_lib/libhighs.so
         HIGHS_CFLAGS=-I$mo_dir/include/highs
         break 2])
    done
  done
  AC_MSG_RESULT([${HIGHS_LIBRARY:-$mo_found}])
  AC_SUBST([HIGHS_LIBRARY])
  HIGHS_PREFIX=
  AS_IF([test "$mo_found" = yes],
    [AS_CASE([$mo_dir], [/usr|/usr/local], [], [HIGHS_PREFIX=$mo_dir])])
  AC_SUBST([HIGHS_PREFIX])
  AC_SUBST([MO_PYTHON_PREFIX], [$mo_python_prefix])

  AS_IF([test "$mo_found" = yes],
    [MO_CONSTANT([mo_major], [HIGHS], [HConfig.h], [HIGHS_VERSION_MAJOR])
     MO_CONSTANT([mo_minor], [HIGHS], [HConfig.h], [HIGHS_VERSION_MINOR])
     MO_CONSTANT([mo_patch], [HIGHS], [HConfig.h], [HIGHS_VERSION_PATCH])])
  MO_CONCLUDE([highs], [HIGHS], [HiGHS], [$mo_major.$mo_minor.$mo_patch],
    [the built-in MILP solver])
])
