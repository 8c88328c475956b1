#!/bin/sh
# Graphs that networkx and igraph write load with the same ops and edges, and
# what we write of them loads there again.
. "${top_srcdir:=.}/tests/tap.sh"

python=${MOIRAI_PYTHON:-python3}
"$python" -c 'import networkx, igraph' 2>"$work/err" ||
    skip_all "$python has no networkx or igraph: $(tail -n 1 "$work/err")"

interop()
{
    "$python" "$top_srcdir/tests/interop.py" "$@"
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

there_and_back()
{
    "$top_builddir/tests/roundtrip" "$work/$1.graphml" >"$work/ours" &&
        interop same "$work/$1.json" "$work/ours"
}

ok "networkx and igraph write their graphs" interop write "$work"
while read -r name ops edges; do
    is "$name loads with its ops and edges" \
        "$(counts "$work/$name.graphml")" "$ops/$edges"
    ok "$name comes back the same" there_and_back "$name"
done <"$work/list"
done_testing
