#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kill -9 of ranks that share memory, at random moments.  MOIRAI_KILLS is how
# often: 6 by default, or 50 with MOIRAI_LONG.
. "${top_srcdir:=.}/tests/support/tap.sh"
. "$top_srcdir/tests/ranks/ranks.sh"

ranks_or_skip tcp
ranks_use_shm
kills=${MOIRAI_KILLS:-$(cases 6 6 50)}
. "$top_srcdir/tests/ranks/ranks_faults.sh"
done_testing
