#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kill -9 of ranks that meet by TCP at random moments, while they meet and while
# they run.  MOIRAI_KILLS says how often, 15 times unless given, or 50 with
# MOIRAI_LONG.
. "${top_srcdir:=.}/tests/support/tap.sh"
. "$top_srcdir/tests/ranks/ranks.sh"

ranks_or_skip tcp
kills=${MOIRAI_KILLS:-$(cases 15 50)}
. "$top_srcdir/tests/ranks/ranks_faults.sh"
done_testing
