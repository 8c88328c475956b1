#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers no-valgrind
# The least period of small problems, in all regimes: the search, the model by
# two solvers, and enumeration agree.
. "${top_srcdir:=.}/tests/support/tap.sh"

python=${MOIRAI_PYTHON:-python3}

[ -x "$top_builddir/tests/oracles/print_periods" ] ||
    skip_all "tests/oracles/print_periods is not built: Check is missing"
"$python" -c 'import ctypes' 2>"$work/err" ||
    skip_all "there is no Python: $(tail -n 1 "$work/err")"

PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE

plan 1
ok "all ways lead to the same period" \
    "$python" "$top_srcdir/tests/oracles/period.py" "$work" 0 "$(cases 16 16 5000)"
