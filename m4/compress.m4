# SPDX-License-Identifier: Apache-2.0
# MO_ZLIB
# Files whose names end in .gz.
AC_DEFUN([MO_ZLIB], [
  MO_WITH([zlib], [system /usr/local])
  AS_IF([test "$mo_found" = no],
    [MO_FIND([ZLIB], [zlib.h], [z], [deflateEnd(0)])])
  AS_IF([test "$mo_found" = yes],
    [MO_CONSTANT([mo_major], [ZLIB], [zlib.h], [ZLIB_VER_MAJOR])
     MO_CONSTANT([mo_minor], [ZLIB], [zlib.h], [ZLIB_VER_MINOR])
     MO_CONSTANT([mo_patch], [ZLIB], [zlib.h], [ZLIB_VER_REVISION])
     MO_LINKED([zlib], [$mo_major.$mo_minor.$mo_patch])
     AC_DEFINE([HAVE_ZLIB], [1], [Whether files can be read and written as .gz])])
  MO_CONCLUDE([zlib], [ZLIB], [zlib], [$mo_major.$mo_minor.$mo_patch],
    [files as .gz (package zlib1g-dev)])
])

# MO_ZSTD
# Files whose names end in .zst.
AC_DEFUN([MO_ZSTD], [
  MO_WITH([zstd], [system /usr/local])
  AS_IF([test "$mo_found" = no],
    [MO_FIND([ZSTD], [zstd.h], [zstd], [ZSTD_compressStream2(0, 0, 0, ZSTD_e_end)])])
  AS_IF([test "$mo_found" = yes],
    [MO_CONSTANT([mo_major], [ZSTD], [zstd.h], [ZSTD_VERSION_MAJOR])
     MO_CONSTANT([mo_minor], [ZSTD], [zstd.h], [ZSTD_VERSION_MINOR])
     MO_CONSTANT([mo_patch], [ZSTD], [zstd.h], [ZSTD_VERSION_RELEASE])
     MO_LINKED([zstd], [$mo_major.$mo_minor.$mo_patch])
     AC_DEFINE([HAVE_ZSTD], [1], [Whether files can be read and written as .zst])])
  MO_CONCLUDE([zstd], [ZSTD], [zstd], [$mo_major.$mo_minor.$mo_patch],
    [files as .zst (package libzstd-dev)])
])
