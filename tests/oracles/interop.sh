#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers
# GraphML round trip: graphs written by networkx and igraph load with the same
# ops and edges, and are read back by networkx after being written by us.
. "${top_srcdir:=.}/tests/support/tap.sh"

python=${MOIRAI_PYTHON:-python3}
"$python" -c 'import networkx, igraph' 2>"$work/err" ||
    skip_all "$python has no networkx or igraph: $(tail -n 1 "$work/err")"

interop()
{
    "$python" "$top_srcdir/tests/oracles/interop.py" "$@"
}

# Prints the value of one key of moirai-info --json.
value()
{
    sed -n "s/^ *\"$1\": \([0-9]*\),*\$/\1/p" "$work/info"
}

# Prints both counts as ops/edges.
counts()
{
    moirai-info --json "$1" >"$work/info" || return
    echo "$(value ops)/$(value edges)"
}

# Returns whether the round trip kept the content; prints the difference.
comes_back()
{
    [ -s "$work/$1.back" ] && [ ! -e "$work/$1.wrong" ] && return
    cat "$work/$1.wrong"
    return 1
}

ok "networkx and igraph write their graphs" interop write "$work"
while read -r name _; do
    "$top_builddir/tests/oracles/roundtrip" "$work/$name.graphml" >"$work/$name.back"
done <"$work/list"
ok "networkx reads them again" interop same "$work"
while read -r name ops edges; do
    is "$name loads with its ops and edges" \
        "$(counts "$work/$name.graphml")" "$ops/$edges"
    ok "$name comes back the same" comes_back "$name"
done <"$work/list"

# The program of the manual.
sed -n '/^import networkx$/,/^\.Ed$/{/^\.Ed$/d;p;}' \
    "$top_srcdir/man/moirai-graph.5" >"$work/net.py"
ok "the program of the manual" sh -c 'cd "$1" && "$2" net.py' sh "$work" "$python"
ok "writes a graph that is placed" moirai "$work/net.graphml"
ok "op by op, too" moirai-place -q --fusion none -o "$work/net.sol" \
    "$work/net.graphml"
done_testing
