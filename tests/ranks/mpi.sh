#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers
# Tests of the transport mpi: ranks started by mpirun.
. "${top_srcdir:=.}/tests/support/tap.sh"
. "$top_srcdir/tests/ranks/ranks.sh"

ranks_or_skip mpi
. "$top_srcdir/tests/ranks/ranks_claims.sh"

all_report "a rank that does not connect" 1 "" \
    "rank 1 is gone or has never come: .*" 3 late=1 patience=2

done_testing
