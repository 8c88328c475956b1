#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers no-valgrind
# The gap of a solution is the same in moirai-place, moirai-check, moirai-report
# and the library, in all regimes.
. "${top_srcdir:=.}/tests/support/tap.sh"

python=${MOIRAI_PYTHON:-python3}

"$python" -c 'import random' 2>"$work/err" ||
    skip_all "there is no Python: $(tail -n 1 "$work/err")"

unset MOIRAI_CLUSTER MOIRAI_PATH
MOIRAI_LIBRARY=$(cd "$top_builddir" && pwd)/src/lib/libmoirai.so.1.0.0
[ -e "$MOIRAI_LIBRARY" ] || MOIRAI_LIBRARY=
PYTHONPATH=$(cd "$top_srcdir" && pwd)/contrib/python
PYTHONDONTWRITEBYTECODE=1
export MOIRAI_LIBRARY PYTHONPATH PYTHONDONTWRITEBYTECODE

plan 1
ok "every gap is the same" "$python" "$top_srcdir/tests/oracles/one_gap.py" \
    "$work" 1000 "$(cases 8 20 2000)"
