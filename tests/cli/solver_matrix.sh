#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers
# Emit, solve, check: all solvers that are installed, by each interface, in LP
# and MPS, find the same optimum. MOIRAI_PROBLEMS is the number of random
# problems, 4 by default, or 40 with MOIRAI_LONG.
. "${top_srcdir:=.}/tests/support/tap.sh"

unset MOIRAI_CLUSTER MOIRAI_PATH
data=${MOIRAI_DATA:-$top_srcdir/../shared/data}
[ -x "$top_builddir/tests/support/write_problems" ] ||
    skip_all "tests/support/write_problems is not built: Check is missing"
cd "$work" || exit 99
moirai-solve --list --json >list.json 2>/dev/null ||
    skip_all "no solver can be listed"

# "highs process" and so on, one per line.
sed -n 's/.*"solver": "\([a-z]*\)".*"program": "\([^"]*\)".*/\1 process/p' \
    list.json >ways
sed -n 's/.*"solver": "\([a-z]*\)".*"library": "\([^"]*\)".*/\1 library/p' \
    list.json >>ways
[ -s ways ] || skip_all "there is no solver"

# Prints the makespan that an interface finds for a model; "none" if it finds
# no solution.
solve()
{
    code=0
    moirai-solve -q --json --solver "$1" --via "$2" --time 120 "$3" \
        -o answer.sol >answer.json 2>answer.err || code=$?
    case $code in
    0) sed -n 's/^  "status": "\(.*\)",$/\1/p;
        s/^  "makespan_us": \(.*\),$/\1/p' answer.json | tr '\n' ' ' ;;
    3) sed -n 's/^  "status": "\(.*\)",$/\1/p' answer.json ;;
    *) echo "exit $code: $(cat answer.err)" ;;
    esac
}

# Whether the interface works at all. (Gurobi's C interface needs a licence.)
printf '%s\n' 'Minimize' ' obj: w' 'Subject To' ' r: w >= 2' 'Bounds' \
    ' w <= 10' 'End' >tiny.lp
while read -r solver way; do
    if moirai-solve -q --solver "$solver" --via "$way" --time 20 tiny.lp \
        -o tiny.sol >out 2>&1; then
        echo "$solver $way" >>usable
    elif grep -q 'licence' out; then
        echo "# not run: $solver by $way:" \
            "$(grep -o '[^:]*licence[^:]*' out | head -n 1)"
    else
        fail "$solver by $way"
        comment <out
    fi
done <ways

if [ -r "$data/authors/example-1.graphml" ]; then
    cp "$data"/authors/example-1.* .
    for format in $(cases lp lp "lp mps"); do
        moirai-emit -q example-1.graphml -o "example-1.$format"
        while read -r solver way; do
            is "example-1.$format by $solver, $way" \
                "$(solve "$solver" "$way" "example-1.$format")" "optimal 30 "
        done <usable
    done
else
    skip "example-1" "$data is not there"
fi

# In one of the formats, in .ci/run in both, with every formulation and congestion regime in turn.
"$top_builddir/tests/support/write_problems" . 200 "${MOIRAI_PROBLEMS:-$(cases 4 4 40)}"
for graph in 2*.graphml; do
    seed=${graph%.graphml}
    case $((seed % 4)) in
    0) options="--formulation paper" ;;
    1) options="--tensors once" ;;
    2) options="--congestion link" ;;
    3) options="--congestion none --memory none" ;;
    esac
    wanted=
    wrong=
    for format in $(cases "$([ $((seed % 2)) -eq 0 ] && echo lp || echo mps)" \
        "lp mps" "lp mps"); do
        # shellcheck disable=SC2086
        moirai-emit -q $options "$graph" -o "$seed.$format" || continue
        while read -r solver way; do
            got=$(solve "$solver" "$way" "$seed.$format")
            : "${wanted:=$got}"
            [ "$got" = "$wanted" ] || wrong="$wrong
$solver $way $format: $got"
        done <usable
    done
    is "problem $seed ($options): $wanted" "$wrong" ""
done
done_testing
