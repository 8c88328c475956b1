# SPDX-License-Identifier: Apache-2.0
# MO_HWLOC
# The topology of the processors: cores, sockets, kinds of cores; version 2.4 or
# later, which has kinds.
AC_DEFUN([MO_HWLOC], [
  MO_WITH([hwloc], [system /usr/local])
  AS_IF([test "$mo_found" = no],
    [MO_FIND([HWLOC], [hwloc.h], [hwloc], [hwloc_cpukinds_get_nr(0, 0)])])
  AS_IF([test "$mo_found" = yes],
    [MO_CONSTANT([mo_major], [HWLOC], [hwloc.h], [HWLOC_API_VERSION >> 16])
     MO_CONSTANT([mo_minor], [HWLOC], [hwloc.h], [HWLOC_API_VERSION >> 8 & 255])
     AC_DEFINE([HAVE_HWLOC], [1], [Whether the topology of processors is known])])
  MO_CONCLUDE([hwloc], [HWLOC], [hwloc], [$mo_major.$mo_minor],
    [cores, sockets and kinds of processors (package libhwloc-dev)])
])
