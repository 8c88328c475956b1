#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers
# The benchmarks run: bench/paper.py and bench/experiment.py, on networks that
# are placed and run in milliseconds, and verdicts, which do not pass what was
# measured while other processes were at work.
. "${top_srcdir:=.}/tests/support/tap.sh"

: "${MOIRAI_PYTHON:=python3}"
command -v "$MOIRAI_PYTHON" >/dev/null || skip_all "there is no Python"
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
examples=$(cd "$top_srcdir" && pwd)/examples
bench=$(cd "$top_srcdir" && pwd)/bench
cd "$work" || exit 99

# The paper's table.  This generator gives the same graph for every model.
cat >generator.py <<END
import sys
name = "cluster.xml" if "--cluster" in sys.argv else "graphml"
print(open("$examples/inception." + name).read())
END
"$MOIRAI_PYTHON" "$bench/paper.py" --generator generator.py --clusters inter \
    --methods heft,single --time 1 --method-time 1 swin-1.8b >out 2>err
ok "a table" grep -q '^swin-1.8b inter original .* heft ' out
ok "prints nothing else" test ! -s err
is "and a line for each method and graph" "$(wc -l <paper.csv)" 7
ok "as a picture" grep -q '<svg' paper.svg

# The experiment, on two devices of one thread each.  Whether its limits hold
# depends on the load of this machine: status 0 or 1.
experiment()
{
    status=0
    "$MOIRAI_PYTHON" "$bench/experiment.py" --layers 1 \
        --only 'gpt3*/coarsened' --devices cpu:1,1 --methods moirai,single \
        --time 1 --profile-runs 2 --runs 2 --repeats 1 --work kept \
        --zoo '--hidden 32 --heads 2 --tokens 16' "$@" >out 2>err </dev/null ||
        status=$?
    [ $status -le 1 ] && ! grep -q Traceback err && return
    cat err
    return 1
}
ok "an experiment" experiment
is "has a row for each method" "$(wc -l <kept/experiment.csv)" 3
ok "the picture is whole" grep -q '^</svg>$' kept/experiment.svg
is "a verdict on predictions" \
    "$(grep -cE '^(PASS|FAIL|not quiet)  \|measured / predicted - 1\|, median' out)" 1
ok "once more" experiment
is "nothing is done" "$(grep -c ' s$' err)" 0

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

done_testing
