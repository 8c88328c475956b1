#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests of moirai-check: verdicts, files found without options, and errors.
. "${top_srcdir:=.}/tests/support/tap.sh"

unset MOIRAI_CLUSTER MOIRAI_PATH
work=$(cd "$work" && pwd -P)
mkdir "$work/here" "$work/there" "$work/far"
cp "$top_srcdir/examples/inception.graphml" \
    "$top_srcdir/examples/inception.cluster.xml" "$work/here"
net=$work/here/inception.graphml
sol=$work/here/inception.sol

# The start from the heuristic is a solution file like any other.
moirai-emit -q --fusion none "$net" -o "$work/model.lp" --start "$sol"

value()
{
    sed -n "s/^  \"$1\": \(.*[^,]\),*\$/\1/p" "$work/out"
}

# Edits the solution with a sed script and checks the result.
edited()
{
    sed "$1" "$sol" >"$work/here/edited.sol"
    shift
    moirai-check "$@" "$work/here/edited.sol"
}

# verdicts

exits "a start is valid" 0 moirai-check "$sol"
is "and reported as such" "$(sed -n 1p "$work/out")" valid
ok "with its makespan" grep -q '^makespan  *[0-9.]* us, claimed' "$work/out"
ok "its bound" grep -q '^bound  *[0-9.]* us (.*), gap ' "$work/out"
ok "and its devices" grep -q '^A .* ops .* busy .* of ' "$work/out"
is "nothing is printed on stderr" "$(cat "$work/err")" ""
exits "as JSON" 0 moirai-check --json "$sol"
is "valid" "$(value status)" '"valid"'
is "the graph" "$(value ops)" 15
ok "no violation" grep -q '"violations": \[\]' "$work/out"
ok "is JSON" "${MOIRAI_PYTHON:-python3}" -c \
    'import json,sys; json.load(open(sys.argv[1]))' "$work/out"
exits "from standard input" 0 sh -c "cd '$work/here' && moirai-check - <'$sol'"

# Integer columns alone, as in a .mst of Gurobi: x of the known placement is the
# sum of v and k.
sed -n '/^Binaries/,/^[\\E]/p' "$work/model.lp" | tr ' ' '\n' |
    grep -v '^k$' >"$work/integers"
grep -F -w -f "$work/integers" "$sol" | sed '1i # MIP start' >"$work/here/a.mst"
{ cat "$work/here/a.mst" && echo 'k 0'; } >"$work/here/integers.mst"
ok "v, and not all of x" grep -q '^v_[0-9_]* 1' "$work/here/integers.mst"
exits "integer columns" 0 moirai-check --fusion none -g "$net" \
    "$work/here/integers.mst"
ok "have the placement" grep -q 'rebuilt from the placement' "$work/out"
exits "with the known schedule" 4 sh -c "sed 's/^k 0/k 1/; s/^v_.*//' \
    '$work/here/integers.mst' | moirai-check --fusion none -g '$net' -"
ok "they do not" grep -q 'column k is 1, for the schedule known' "$work/out"

# A solution that is cut is damaged, not a placement.
for cut in '<header problemName="m" ' '<header ' '<'; do
    printf '<?xml version="1.0"?>\n<CPLEXSolution version="1.2">\n%s' "$cut" \
        >"$work/here/cut.sol"
    exits "cut at $cut" 1 moirai-check "$work/here/cut.sol"
done

x=$(sed -n 's/^\(x_3_[01]\) 1$/\1/p' "$sol")
case $x in x_3_0) y=x_3_1 ;; *) y=x_3_0 ;; esac
exits "an op in no place" 4 edited "/^$x /d"
ok "is named" grep -q "(1c) op 'b[0-9_a-z]*' is on no device" "$work/out"
is "and it is invalid" "$(sed -n 1p "$work/out")" invalid
exits "an op in two places" 4 edited "s/^$x 1/&\\n$y 1/"
exits "half an op" 4 edited "s/^$x 1/$x 0.5/"
exits "a column twice" 4 edited "s/^$x 1/&\\n&/"
exits "a claim too good" 4 edited 's/^w .*/w 1/; s/^=obj= .*/=obj= 1/'
ok "with both numbers" \
    grep -q '(1) the objective is claimed to be [0-9.]* us, but' "$work/out"
exits "as JSON, too" 4 edited "/^$x /d" --json
is "invalid" "$(value status)" '"invalid"'
exits "a little less than 1" 0 edited "s/^$x 1/$x 0.9999999/"
exits "within a given tolerance" 0 \
    edited "s/^$x 1/$x 0.99/" --tolerance 0.02

complains "a solver that found none" 3 "it says: infeasible" \
    moirai-check "$top_srcdir/tests/solutions/scip-10.0.2-infeasible.sol"
complains "no such file" 1 "cannot open" moirai-check "$work/none.sol"
complains "a graph" 1 "root is <graphml>; it is a graph: give it with --graph" \
    moirai-check "$top_srcdir/examples/inception.graphml"
: >"$work/empty.sol"
exits "an empty file" 1 moirai-check "$work/empty.sol"
exits "no file at all" 2 moirai-check

# what a file has about itself is a claim

printf '# Solution for model moirai\n# status: optimal\n# solver: HiGHS\n' \
    >"$work/here/claim.sol"
is "times are in microseconds" "$(grep '^moirai_u_' "$sol")" "moirai_u_1000 1"
echo "# bound: 95.1" >>"$work/here/claim.sol"
grep -v '^[#=]' "$sol" >>"$work/here/claim.sol"
exits "a file with a claim" 0 moirai-check "$work/here/claim.sol"
is "which is shown as one" "$(grep '^claimed' "$work/out")" \
    "claimed     optimal by HiGHS, bound 95.1 us"
ok "besides the bound that is computed" \
    grep -q '^bound  *90.6 us (colocation, recomputed), gap ' "$work/out"
exits "as JSON" 0 moirai-check --json "$work/here/claim.sol"
ok "in an object of its own" \
    grep -q '"claimed": {"status": "optimal", "by": "HiGHS", .*"bound_us": 95.1}' \
    "$work/out"
sed -i "s/^# bound:.*/# bound: 999.99/" "$work/here/claim.sol"
exits "a bound above the makespan" 0 moirai-check "$work/here/claim.sol"
ok "is refuted" grep -q 'bound 999.99 us, which this schedule refutes' \
    "$work/out"

# files without start times: Gurobi's .mst has integer columns only

{ echo '# MIP start' && grep '^[xoh]_\|^moirai_' "$sol"; } >"$work/here/g.mst"
exits "a file without start times" 0 moirai-check "$work/here/g.mst"
is "is valid" "$(sed -n 1p "$work/out")" valid
ok "which is mentioned" grep -q '^start times not in the file' "$work/out"
exits "without orders, too" 0 sh -c \
    "grep -v '^[oh]_' '$work/here/g.mst' >'$work/here/x.mst' &&
     moirai-check '$work/here/x.mst'"
exits "without an op it is not" 4 sh -c \
    "grep -v '^x_3_' '$work/here/g.mst' >'$work/here/x.mst' &&
     moirai-check '$work/here/x.mst'"
{ cat "$work/here/g.mst" && printf 'o_3_4 1\no_4_3 1\n'; } |
    sed '/^x_[34]_/d; $a x_3_0 1\nx_4_0 1' | awk '!seen[$1]++' \
    >"$work/here/cycle.mst"
exits "orders that are a cycle" 4 moirai-check "$work/here/cycle.mst"
ok "are named" grep -q "(1e) the order columns have op" "$work/out"

# finding the files

cp "$sol" "$work/far"
complains "nothing near" 1 "give them with --graph, --cluster" sh -c \
    "cd '$work/there' && moirai-check '$work/far/inception.sol'"
exits "in the working folder" 0 sh -c \
    "cd '$work/here' && moirai-check '$work/far/inception.sol'"
exits "in MOIRAI_PATH" 0 sh -c "cd '$work/there' &&
    MOIRAI_PATH=/nowhere:'$work/here' moirai-check '$work/far/inception.sol'"
exits "given" 0 sh -c "cd '$work/there' && moirai-check --graph '$net' \
    -c '$work/here/inception.cluster.xml' '$work/far/inception.sol'"
cp "$net" "$work/there/renamed.xml"
cp "$work/here/inception.cluster.xml" "$work/there/devices.xml"
exits "under other names" 0 sh -c \
    "cd '$work/there' && moirai-check '$work/far/inception.sol'"
i=0
while [ $i -lt 300 ]; do
    echo '<other/>' >"$work/there/$i.xml"
    i=$((i + 1))
done
exits "among many others, called alike" 0 sh -c \
    "cp '$net' '$work/there' && cp '$work/here/inception.cluster.xml' \
    '$work/there' && cd '$work/there' &&
    moirai-check '$work/far/inception.sol'"

sed 's/<data key="name">b1_1x1/<data key="name">b1_other/; s/b1_1x1/b1_one/g' \
    "$net" >"$work/other.graphml"
complains "another graph" 1 "is another graph" sh -c "cd '$work/here' &&
    moirai-check --graph '$work/other.graphml' '$sol'"
complains "another cluster" 1 "is another cluster" \
    moirai-check -c inter-server "$sol"
exits "a foreign digest" 1 edited 's/^moirai_g_..../moirai_g_dead/'
ok "reports the file that was found instead" grep -q 'but .*inception.graphml is another: [0-9a-f]*;' \
    "$work/err"
exits "a foreign instance" 1 edited 's/^moirai_i_..../moirai_i_dead/'
ok "is reported" grep -q 'the times come out differently' "$work/err"
exits "an identity that is not 1" 1 edited 's/^\(moirai_g_[^ ]*\) 1/\1 0.5/'
exits "an earlier version's, without options" 0 edited '/^moirai_o_/d' \
    --congestion port --tensors per-edge --memory static --json
is "is of the graph as it is" "$(value coarse_ops)" 15
exits "without any identity" 1 edited '/^moirai_/d'
ok "the error names --graph" grep -q -e '--graph' "$work/err"
exits "and given" 0 edited '/^moirai_/d' --graph "$net" --tensors per-edge \
    --fusion none
moirai-emit -q -c inter-server "$net" -o "$work/m.lp" \
    --start "$work/here/builtin.sol"
exits "a built-in cluster" 0 moirai-check "$work/here/builtin.sol"
echo 'conv relu' >"$work/here/my.rules"
moirai-emit -q --fusion "$work/here/my.rules" "$net" -o "$work/m.lp" \
    --start "$work/here/rules.sol"
exits "a file of rules" 0 moirai-check "$work/here/rules.sol"
moirai-emit -q --fusion default --congestion link --tensors once --memory live \
    "$net" -o "$work/m.lp" --start "$work/here/all.sol"
exits "all options" 0 moirai-check --json "$work/here/all.sol"
is "are known" "$(value congestion) $(value tensors) $(value memory)" \
    '"link" "once" "live"'
sed 's/memory_gib="[0-9]*"/memory_bytes="1"/' \
    "${net%.graphml}.cluster.xml" >"$work/here/tight.xml"
moirai-emit -q --memory none -c "$work/here/tight.xml" "$net" -o "$work/m.lp" \
    --start "$work/here/tight.sol"
exits "ops that fit nowhere, where memory does not count" 0 \
    moirai-check "$work/here/tight.sol"
for formulation in paper getf pesto; do
    moirai-emit -q --formulation $formulation "$net" -o "$work/m.lp" \
        --start "$work/here/f.sol" 2>/dev/null || continue
    exits "$formulation" 0 moirai-check "$work/here/f.sol"
done

moirai-emit -q --formulation sct "$net" -o "$work/m.lp" \
    --start "$work/here/sct.sol"
complains "a model that places nothing" 1 "nothing to check" \
    moirai-check "$work/here/sct.sol"

complains "a report in the place of the answer" 2 "would replace" \
    moirai-check "$sol" -o "$sol"
ok "which is still there" moirai-check -q "$sol"
complains "a schedule in the place of the graph found" 2 \
    "--schedule would replace $net, which is read" \
    moirai-check "$sol" --schedule "$net"
complains "a report in that of the cluster found" 2 "which is read" \
    moirai-check "$sol" -o "$work/here/inception.cluster.xml"
ok "which are still there" moirai-check -q "$sol"

# placements

exits "the schedule" 0 moirai-check -o "$work/report" \
    --schedule "$work/here/schedule.json" "$sol"
exits "is a placement" 0 \
    moirai-check --graph "$net" "$work/here/schedule.json"
moirai-place -q "$net" -o "$work/here/coarse.sol" >"$work/log"
moirai-check --schedule "$work/coarse.json" "$work/here/coarse.sol" >"$work/log"
exits "so is that of the coarse graph" 0 \
    moirai-check --json --graph "$net" "$work/coarse.json"
is "with fewer ops" "$(value coarse_ops)" 8
complains "which others are not" 1 "there is no op 'input'" \
    moirai-check -q --fusion default --graph "$net" "$work/here/schedule.json"
complains "of a graph" 2 "give the graph with --graph" \
    moirai-check "$work/here/schedule.json"
sed -n 's/.*<node id="\([^"]*\)".*/\1 A/p' "$net" >"$work/all-a"
exits "everything on A" 0 moirai-check --json --graph "$net" "$work/all-a"
is "takes what A alone takes" "$(value makespan_us)" "$(value best_single_us)"
sed '$d' "$work/all-a" >"$work/short"
exits "one op left out" 4 moirai-check --graph "$net" "$work/short"
sed '1s/A/Q/' "$work/all-a" >"$work/strange"
complains "no such device" 1 "there is no device 'Q'" \
    moirai-check -q --graph "$net" "$work/strange"
first=$(sed -n '1s/ A//p' "$work/all-a")
mkdir "$work/blank"
cp "$work/here/inception.cluster.xml" "$work/blank/named.cluster.xml"
sed "s/\"$first\"/\"first of all\"/" "$net" >"$work/blank/named.graphml"
sed "s/^$first /first of all /; s/\$/ # on A/" "$work/all-a" >"$work/named"
exits "blanks in a name, and comments" 0 \
    moirai-check --graph "$work/blank/named.graphml" "$work/named"
echo 'first of all' >>"$work/named"
complains "the error names the line" 1 "there is no op 'first of'" \
    moirai-check -q --graph "$work/blank/named.graphml" "$work/named"

done_testing
