#!/bin/sh
# kill -9 of ranks of MPI at random moments.  MOIRAI_KILLS says how often, 50
# times unless given.
. "${top_srcdir:=.}/tests/tap.sh"
. "$top_srcdir/tests/ranks.sh"

ranks_or_skip mpi
kills=${MOIRAI_KILLS:-50}
. "$top_srcdir/tests/ranks_faults.sh"
done_testing
