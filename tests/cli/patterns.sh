#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers
# Tests of models of patterns: moirai-emit writes them and solutions are read
# back by moirai-check and moirai-solve.
. "${top_srcdir:=.}/tests/support/tap.sh"

unset MOIRAI_CLUSTER
MOIRAI_PATH=$top_srcdir/examples
export MOIRAI_PATH
inception=$top_srcdir/examples/inception.graphml
cd "$work" || exit 99

# Prints what follows a word of the heading.
heading()
{
    sed -n "s/^\\\\ $1: //p" "$2"
}

exits "patterns of a small network" 0 moirai-emit -q --formulation patterns \
    "$inception" -o up.lp --start up.sol --map up.csv
is "by name" "$(heading formulation up.lp)" "patterns"
is "the optimum is explained" "$(heading optimum up.lp)" \
    "the best of its patterns, an upper bound"
is "the incumbent is one choice" "$(heading known up.lp)" \
    "among the patterns is a schedule of 63.7 us, optimal"
ok "columns are explained" \
    grep -q '^p_0_0_0_0,binary,pattern,,,,concat,,,,A$' up.csv
exits "the start is a solution" 0 moirai-check up.sol
ok "of that length" grep -q '63.7 us' out
exits "as MPS" 0 moirai-emit -q --formulation patterns "$inception" -o up.mps
exits "the same again" 0 \
    moirai-emit -q --patterns upper "$inception" -o again.lp
ok "has the same bytes" cmp up.lp again.lp

exits "lower bounds" 0 moirai-emit -q --patterns lower "$inception" -o low.lp
is "by name, too" "$(heading formulation low.lp)" "patterns-lower"
is "are no placement" "$(heading optimum low.lp)" \
    "a lower bound, no placement"

exits "patterns for rows of one's own" 0 moirai-emit -q --slack 2 \
    --formulation patterns "$inception" -o slack.lp
ok "are more" test "$(wc -c <slack.lp)" -gt "$(wc -c <up.lp)"

# Without a solver only the start can be read.
if moirai-solve --list | grep -q ' not found' &&
    ! moirai-solve --list | grep -qv ' not found'; then
    skip "solvers" "there is none"
else
    for model in up.lp up.mps slack.lp; do
        exits "$model is solved" 0 moirai-solve -q "$model" -o solved.sol
        exits "$model: the answer holds" 0 moirai-check solved.sol
        ok "$model: it is the incumbent" grep -q '63.7 us' out
    done
    exits "a lower bound is solved" 0 moirai-solve -q low.lp -o low.sol
    complains "but no placement" 1 'does not say where ops are' \
        moirai-check low.sol
fi

complains "live memory" 2 'memory static or none' \
    moirai-emit -q --formulation patterns --memory live "$inception"
complains "without a search" 2 'made of the schedules of a search' \
    moirai-emit -q --formulation patterns --no-strengthen "$inception"
complains "the side of another formulation" 2 '--patterns' \
    moirai-emit -q --formulation paper --patterns lower "$inception"

# The least period.
exits "patterns of the period" 0 moirai-emit -q --formulation patterns \
    --objective period "$inception" -o period.lp
is "by name" "$(heading formulation period.lp)" "patterns-period"
is "say what the optimum is" "$(heading optimum period.lp)" \
    "the best of its patterns, an upper bound"
ok "the name alone, and the side" moirai-emit -q -o again.lp \
    --formulation patterns-period --patterns upper "$inception"
ok "mean the same" cmp period.lp again.lp
if moirai-solve --list | grep -qv 'not found'; then
    exits "they are solved" 0 moirai-solve -q --json period.lp -o period.sol
    exits "and checked" 0 moirai-check -q --json period.sol
    is "with the period of the search" \
        "$(sed -n 's/^  "period_us": \([0-9.]*\).*/\1/p' out)" \
        "$(moirai-place --json --objective period "$inception" 2>err |
            sed -n 's/.*"period_us": \([0-9.]*\).*/\1/p' | head -n 1)"
fi
complains "lower bounds of the period" 2 'moirai-place' \
    moirai-emit -q --patterns lower --objective period "$inception"
complains "a limit in flight" 2 'no rows for --in-flight' moirai-emit -q \
    --formulation patterns --objective period --in-flight 2 "$inception"

# More than a million rows by default.
moirai-zoo --layers 24 --hidden 256 --heads 16 -o large.graphml
exits "a large network" 0 moirai-emit --strengthen 1 -c intra-server \
    large.graphml -o large.lp
is "is written as patterns" "$(heading formulation large.lp)" "patterns"
ok "and a line says so" \
    grep -q 'more than a million rows: this is --formulation patterns' err
ok "in a few MB" test "$(wc -c <large.lp)" -lt 10000000
exits "unless compact is wanted" 0 moirai-emit -q --strengthen 1 \
    -c intra-server --formulation compact --stats large.graphml
ok "with all rows" \
    test "$(sed -n 's/^rows *//p' out | head -n 1)" -gt 1000000

done_testing
