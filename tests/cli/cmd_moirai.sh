#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: dist
# Tests of moirai: the whole pipeline in one command.
. "${top_srcdir:=.}/tests/support/tap.sh"

unset MOIRAI_CLUSTER MOIRAI_PATH
work=$(cd "$work" && pwd -P)
TMPDIR=$work/tmp
export TMPDIR
mkdir "$TMPDIR"
net=$top_srcdir/examples/inception.graphml
cd "$work" || exit 99

value()
{
    sed -n "s/^  \"$1\": \(.*[^,]\),*\$/\1/p" "$work/out"
}

moirai-solve --list | grep -qv 'not found' || skip_all "there is no solver"

exits "a graph" 0 moirai "$net"
is "is placed" "$(sed -n 1p out)" "valid, optimal"
ok "faster than on one device" grep -q '^speed  *1\.[0-9]* times' out
ok "with messages on the way" grep -q '15 ops, [0-9]* to place on 2 devices' err
is "nothing is left" "$(ls "$TMPDIR")" ""
exits "as JSON" 0 moirai -q --json "$net"
is "optimal" "$(value status)" '"optimal"'
is "nothing is printed" "$(cat err)" ""
best=$(value makespan_us)
exits "without fusion" 0 moirai -q --json --fusion none "$net"
is "every op is placed" "$(value coarse_ops)" 15
exits "the paper's model" 0 moirai -q --json --formulation paper "$net"
is "has the same optimum" "$(value makespan_us)" "$best"
exits "files to keep" 0 moirai -q --keep kept "$net"
is "are kept" "$(ls kept | tr '\n' ' ')" \
    "inception.lp inception.schedule.json inception.sol inception.start.sol "
cp "$net" "$top_srcdir/examples/inception.cluster.xml" kept
exits "and can be checked" 0 moirai-check kept/inception.sol
exits "and solved" 0 moirai-solve kept/inception.lp -o again.sol
exits "from standard input" 0 sh -c \
    "moirai -q -c '$top_srcdir/examples/inception.cluster.xml' - <'$net'"
complains "no graph" 1 "none.graphml" moirai -q none.graphml
exits "no operand" 2 moirai
complains "no such solver" 2 "abacus" moirai --solver abacus "$net"
is "and nothing is left" "$(ls "$TMPDIR")" ""
done_testing
