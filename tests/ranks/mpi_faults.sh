#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kill -9 of ranks of MPI at random moments.  MOIRAI_KILLS says how often, 20
# times unless given, or 50 with MOIRAI_LONG.
. "${top_srcdir:=.}/tests/support/tap.sh"
. "$top_srcdir/tests/ranks/ranks.sh"

ranks_or_skip mpi
kills=${MOIRAI_KILLS:-$(cases 20 50)}
. "$top_srcdir/tests/ranks/ranks_faults.sh"
done_testing
