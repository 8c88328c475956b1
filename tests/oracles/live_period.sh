#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers no-valgrind
# Periods of small problems with live memory: they are what moirai-check finds,
# and neither a limit in flight nor its absence makes them worse.
. "${top_srcdir:=.}/tests/support/tap.sh"

python=${MOIRAI_PYTHON:-python3}

"$python" -c 'import random' 2>"$work/err" ||
    skip_all "there is no Python: $(tail -n 1 "$work/err")"

PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE

plan 1
ok "periods with live memory agree" "$python" \
    "$top_srcdir/tests/oracles/live_period.py" "$work" 1000 \
    "$(cases 10 30 5000)"
