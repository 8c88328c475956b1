#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers
# Graphs that networkx and igraph write load with the same ops and edges, and
# what we write of them loads there again.
. "${top_srcdir:=.}/tests/support/tap.sh"

python=${MOIRAI_PYTHON:-python3}
"$python" -c 'import networkx, igraph' 2>"$work/err" ||
    skip_all "$python has no networkx or igraph: $(tail -n 1 "$work/err")"

interop()
{
    "$python" "$top_srcdir/tests/oracles/interop.py" "$@"
}

# The value of one key of moirai-info --json.
value()
{
    sed -n "s/^ *\"$1\": \([0-9]*\),*\$/\1/p" "$work/info"
}

# Both counts in one word: ops/edges.
counts()
{
    moirai-info --json "$1" >"$work/info" || return
    echo "$(value ops)/$(value edges)"
}

# Does what we wrote of it load with the same in it?
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
done_testing
