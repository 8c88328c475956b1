#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers
# Tests of bench/paper.py on a network that is placed in milliseconds: its
# lines, and its errors where something is missing.
. "${top_srcdir:=.}/tests/support/tap.sh"

: "${MOIRAI_PYTHON:=python3}"
command -v "$MOIRAI_PYTHON" >/dev/null || skip_all "there is no Python"
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
examples=$(cd "$top_srcdir" && pwd)/examples
bench=$(cd "$top_srcdir" && pwd)/bench
python=$(command -v "$MOIRAI_PYTHON")
cd "$work" || exit 99

# A generator that gives the same graph for every model.
cat >generator.py <<END
import sys
name = "cluster.xml" if "--cluster" in sys.argv else "graphml"
print(open("$examples/inception." + name).read())
END

# paper GENERATOR OPTION...
paper()
{
    generator=$1
    shift
    "$python" "$bench/paper.py" --generator "$generator" --clusters inter \
        --methods heft,single --time 1 --method-time 1 "$@" swin-1.8b
}

# gives_up CLAIM TEXT COMMAND...: the last line of stderr contains the text,
# and there is no traceback.
gives_up()
{
    claim=$1
    text=$2
    shift 2
    status=0
    "$@" >out 2>err </dev/null || status=$?
    if [ $status -eq 1 ] && tail -n 1 err | grep -qF -e "$text" &&
        ! grep -q Traceback err; then
        pass "$claim"
    else
        fail "$claim"
        { echo "exit $status"; tail -n 3 err; } | comment
    fi
}

paper generator.py >out 2>err
ok "a table" grep -q '^swin-1.8b inter original .* heft ' out
ok "prints nothing else" test ! -s err
is "and a line for each method and graph" "$(wc -l <paper.csv)" 7
ok "as a picture" grep -q '<svg' paper.svg
cat >many.py <<END
import re
import sys

sys.path.insert(0, "$bench")
from bars import Bars

methods = [f"m{i}" for i in range(40)]
groups = {"a": {one: 1.0 for one in methods[1:]},
          "b": {one: 1.0 for one in methods[2:]}}
svg = Bars("title", {"panel": groups}, methods, "nothing").svg()
print(len(set(re.findall('width="10" height="10" fill="([^"]*)"', svg))))
print(*re.findall("without a result: [^<]*", svg))
END
is "every method has a colour; failed ones are named" \
    "$("$python" many.py | tr '\n' ' ')" \
    "39 without a result: m0 (2 of 2), m1 (1 of 2) "

echo 'raise SystemExit(3)' >broken.py
gives_up "a generator that fails" "broken.py" paper broken.py
gives_up "that is not there" "nothing.py" paper nothing.py
echo 'print("garbage")' >garbage.py
gives_up "that writes garbage" "not well-formed" paper garbage.py
gives_up "no place for the table" "nowhere/a.csv" \
    paper generator.py --csv nowhere/a.csv
gives_up "no place for the picture" "nowhere/a.svg" \
    paper generator.py --svg nowhere/a.svg
gives_up "time that makes no sense" "--time" paper generator.py --time -1
mkdir empty
gives_up "no moirai-place" "moirai-place" \
    env PATH="$work/empty" "$python" "$bench/paper.py" \
    --generator generator.py --clusters inter swin-1.8b

done_testing
