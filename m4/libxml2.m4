# SPDX-License-Identifier: Apache-2.0
# MO_LIBXML2
# pkg-config first, then xml2-config; LIBXML2_CFLAGS and LIBXML2_LIBS override
# both, for headers that lie elsewhere.
AC_DEFUN([MO_LIBXML2], [
  PKG_CHECK_MODULES([LIBXML2], [libxml-2.0 >= 2.9],
    [mo_libxml2=`$PKG_CONFIG --modversion libxml-2.0 2>/dev/null`],
    [AC_PATH_TOOL([XML2_CONFIG], [xml2-config])
     AS_IF([test -z "$XML2_CONFIG"],
       [AC_MSG_ERROR([libxml2 is needed: install libxml2-dev, or set LIBXML2_CFLAGS and LIBXML2_LIBS])])
     LIBXML2_CFLAGS=`$XML2_CONFIG --cflags`
     LIBXML2_LIBS=`$XML2_CONFIG --libs`
     mo_libxml2=`$XML2_CONFIG --version`])

  mo_saved_CPPFLAGS=$CPPFLAGS
  mo_saved_LIBS=$LIBS
  CPPFLAGS="$CPPFLAGS $LIBXML2_CFLAGS"
  LIBS="$LIBXML2_LIBS $LIBS"
  AC_MSG_CHECKING([whether libxml2 has the streaming reader])
  AC_LINK_IFELSE(
    [AC_LANG_PROGRAM([[#include <libxml/xmlreader.h>]],
      [[xmlTextReaderPtr reader = xmlReaderForFile("-", 0, 0);
        return xmlTextReaderRead(reader);]])],
    [AC_MSG_RESULT([yes])],
    [AC_MSG_RESULT([no])
     AC_MSG_ERROR([libxml2 does not link with $LIBXML2_CFLAGS $LIBXML2_LIBS])])
  CPPFLAGS=$mo_saved_CPPFLAGS
  LIBS=$mo_saved_LIBS
  MO_LINKED([libxml2], [$mo_libxml2])
  MO_PART([libxml2], ["${mo_libxml2:-yes}"], [reading graphs])
])
