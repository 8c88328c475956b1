# SPDX-License-Identifier: Apache-2.0
# MO_NANOPB
# ONNX models: a decoder of protocol buffers and the generator of its tables.
AC_DEFUN([MO_NANOPB], [
  MO_WITH([nanopb], [system /usr/local])
  AC_ARG_VAR([NANOPB_GENERATOR], [generator of nanopb's tables])
  AC_CHECK_PROGS([NANOPB_GENERATOR], [nanopb_generator nanopb_generator.py], [no])
  AS_IF([test "$mo_found" = no && test "$NANOPB_GENERATOR" != no],
    [MO_FIND([NANOPB], [pb_decode.h], [protobuf-nanopb],
       [pb_istream_t s = PB_ISTREAM_EMPTY; return pb_decode(&s, 0, 0)])])
  AS_IF([test "$mo_found" = yes],
    [mo_nanopb=`$NANOPB_GENERATOR --version 2>/dev/null |
       sed -n 's/^nanopb-\([[0-9.]]*\).*/\1/p;q'`
     MO_LINKED([nanopb], [${mo_nanopb:-0.4}])
     AC_DEFINE([HAVE_NANOPB], [1], [Whether ONNX models can be read])])
  MO_CONCLUDE([nanopb], [NANOPB], [nanopb], [${mo_nanopb:-0.4}],
    [ONNX models (packages nanopb and libnanopb-dev)])
])
