#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kill -9 of TCP ranks at random moments, during the rendezvous and during
# runs.  MOIRAI_KILLS is how often: 15 by default, or 50 with MOIRAI_LONG.
. "${top_srcdir:=.}/tests/support/tap.sh"
. "$top_srcdir/tests/ranks/ranks.sh"

ranks_or_skip tcp
kills=${MOIRAI_KILLS:-$(cases 6 15 50)}
. "$top_srcdir/tests/ranks/ranks_faults.sh"
done_testing
