#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers
# Verdicts of the benchmarks: what was measured while other processes were at
# work does not pass.
. "${top_srcdir:=.}/tests/support/tap.sh"

bench=$top_srcdir/bench
python=${MOIRAI_PYTHON:-python3}

# in_shell BUSY: verdicts after 100 ticks in which two processors were busy for
# so many, 150 of them for this shell.
in_shell()
{
    sh -c '
        . "$1/verdict.sh"
        load_begun="1000 500 300 2"
        busy=$((500 + $2))
        load_now()
        {
            echo "1100 $busy 450 2"
        }
        timed_line speed 1 2 "<" detail
        timed_line slow 3 2 "<" detail
        timed_line shown 3 - - detail
        line rows 1 2 "<" detail
        exit "$failed"' sh "$bench" "$1" | sed 's/  .*//'
}

is "a quiet machine" "$(in_shell 160 | tr '\n' ';')" "PASS;FAIL;;PASS;"
is "one that others use" "$(in_shell 190 | tr '\n' ';')" \
    "not quiet;FAIL;;PASS;"
is "a failed limit is remembered" "$(sh -c '. "$1/verdict.sh"
    timed_line slow 3 2 "<" detail >/dev/null
    echo "$failed"' sh "$bench")" 1

cat >"$work/verdicts.py" <<'END'
import sys
sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True
from verdict import Load, Verdicts

now = iter([(10, 5, 3, 2), (11, 5 + float(sys.argv[2]), 4.5, 2)])
Load.now = staticmethod(lambda: next(now))
quiet = Load().quiet()
verdicts = Verdicts()
verdicts.line("time", 1, 2, "<", quiet=quiet)
verdicts.line("rows", 1, 2, "<")
assert not verdicts.failed
verdicts.line("slow", 3, 2, "<", quiet=quiet)
assert verdicts.failed
END
in_python()
{
    "$python" "$work/verdicts.py" "$bench" "$1" | sed 's/  .*//' | tr '\n' ';'
}

is "the same in Python" "$(in_python 1.6)" "PASS;PASS;FAIL;"
is "by others, too" "$(in_python 1.9)" "not quiet;PASS;FAIL;"
ok "and from this machine" "$python" -c '
import sys
sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True
from verdict import Load
used, n = Load().others()
assert used >= 0 and n >= 0' "$bench"
done_testing
