#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
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
ok "but not kept" grep -q '^kept  *nothing; -o FILE' out
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
exits "patterns" 0 moirai -q --json --formulation patterns "$net"
is "have the optimum here, proven by the search" \
    "$(value status) $(value makespan_us) $(value bound_us)" \
    "\"optimal\" $best $best"
complains "lower bounds place nothing" 2 "patterns-lower" \
    moirai -q --formulation patterns-lower "$net"
exits "files to keep" 0 moirai -q --keep kept "$net"
is "are kept" "$(ls kept | tr '\n' ' ')" \
    "inception.lp inception.schedule.json inception.sol inception.start.sol "
exits "also the solution of -o" 0 moirai -q --keep new -o new/a.sol "$net"
ok "the same" cmp new/a.sol new/inception.sol
cp "$net" "$top_srcdir/examples/inception.cluster.xml" kept
exits "and can be checked" 0 moirai-check kept/inception.sol
exits "and solved" 0 moirai-solve kept/inception.lp -o again.sol
exits "from standard input" 0 sh -c \
    "moirai -q -c '$top_srcdir/examples/inception.cluster.xml' - <'$net'"
complains "no graph" 1 "none.graphml" moirai -q none.graphml
exits "no operand" 2 moirai
complains "no such solver" 2 "abacus" moirai --solver abacus "$net"
is "and nothing is left" "$(ls "$TMPDIR")" ""

# signals

# Waits, ten seconds at most, until there is a temporary folder, or none.
until_folders()
{
    tries=0
    until [ "$(ls "$TMPDIR" | wc -l)" -eq "$1" ] || [ $tries -gt 200 ]; do
        sleep 0.05
        tries=$((tries + 1))
    done
}

ok "a graph that takes long" moirai-zoo --layers 2 --hidden 64 --heads 2 \
    -o long.graphml
for signal in HUP QUIT USR1; do
    # shellcheck disable=SC3045
    (ulimit -c 0 && exec env --default-signal=$signal moirai -q --time 60 \
        -c inter-server long.graphml) >/dev/null 2>&1 &
    pid=$!
    until_folders 1
    ok "a run" kill -s $signal $pid
    wait $pid 2>/dev/null
    until_folders 0
    is "nothing is left after SIG$signal" "$(ls "$TMPDIR")" ""
done
done_testing
