# SPDX-License-Identifier: Apache-2.0
# MO_PART(NAME, FOUND, WHAT-A-MISSING-PART-WOULD-ADD)
# Adds a row to the table configure ends with.  FOUND is a shell word: "no",
# "off" when the user disabled it, or what was found.
AC_DEFUN([MO_PART], [
  AS_CASE([$2],
    [no], [mo_row="no       would add $3"],
    [off], [mo_row="off      would add $3"],
    [mo_row=$2])
  mo_table="$mo_table
  m4_format([%-10s], [$1])  $mo_row"
])

# MO_LINKED(NAME, VERSION)
# Adds a library to those that --version lists: what is linked, not what is
# found and loaded at run time.
AC_DEFUN([MO_LINKED], [mo_linked="${mo_linked:+$mo_linked, }$1 $2"])

# MO_LINKED_END
AC_DEFUN([MO_LINKED_END],
  [AC_DEFINE_UNQUOTED([MO_BUILT_IN], ["$mo_linked"], [What --version lists])])

# MO_CLOSING_TABLE
AC_DEFUN([MO_CLOSING_TABLE], [
  cat <<_MO_EOF

$PACKAGE_NAME $PACKAGE_VERSION is configured for $host.

  compiler    $CC
  prefix      $prefix
  werror      $enable_werror
  sanitizers  $enable_sanitizers
  fuzzing     $enable_fuzzing
  shared      $enable_shared
  hardening   `AS_ECHO(["${MO_HARDENED:- off}"]) | sed 's/^ //'`
$mo_table

Next: make, make check, make install.
_MO_EOF
])
