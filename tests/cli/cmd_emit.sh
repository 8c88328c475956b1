#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers
# Tests of moirai-emit: the model files and where they go, reports and
# warnings, and errors.
. "${top_srcdir:=.}/tests/support/tap.sh"

python=${MOIRAI_PYTHON:-python3}
unset MOIRAI_CLUSTER
inception=$top_srcdir/examples/inception.graphml

# Prints the value of one key of the last --json output.
value()
{
    sed -n "s/^  \"$1\": \(.*\),\$/\1/p" "$work/out"
}

# Prints the identity columns of a model, one per line.
identity()
{
    sed -n 's/^[\\*] identity: //p' "$1"
}

bytes()
{
    wc -c <"$1" | tr -d ' '
}

# A graph without times, in a folder without a cluster.
mkdir "$work/here" "$work/there"
moirai-zoo --layers 1 --hidden 64 --heads 2 -o "$work/here/net.graphml"
net=$work/here/net.graphml

# destinations: standard output counts as a file in the working folder.
cd "$work" || exit 99

exits "to standard output" 0 moirai-emit -q "$inception"
is "nothing is printed on stderr" "$(cat "$work/err")" ""
cp "$work/out" "$work/model.lp"
ok "it opens with comments" grep -q '^\\ moirai [0-9]' "$work/model.lp"
ok "it is an LP" grep -qx 'Minimize' "$work/model.lp"
is "it ends" "$(tail -n 1 "$work/model.lp")" "End"
exits "to a file" 0 moirai-emit -q "$inception" -o "$work/again.lp"
ok "the same" cmp "$work/again.lp" "$work/model.lp"
is "and nothing to standard output" "$(bytes "$work/out")" 0
exits "with - as a file" 0 moirai-emit -q "$inception" -o -
ok "is standard output" cmp "$work/out" "$work/model.lp"

exits "MPS by the name" 0 moirai-emit -q "$inception" -o "$work/model.mps"
is "is MPS" "$(sed -n 1p "$work/model.mps")" "NAME moirai FREE"
exits "MPS by option" 0 moirai-emit -q --format mps "$inception"
ok "is the same" cmp "$work/out" "$work/model.mps"
exits "LP by option" 0 \
    moirai-emit -q --format lp "$inception" -o "$work/odd.mps"
ok "whatever the name" cmp "$work/odd.mps" "$work/model.lp"

for way in gz:gzip zst:zstd; do
    ending=${way%:*}
    program=${way#*:}
    if ! moirai-emit --version | grep -q "$(echo "$ending" |
        sed 's/gz/zlib/; s/zst/zstd/')"; then
        skip ".$ending" "it is not built in"
    elif ! command -v "$program" >/dev/null; then
        skip ".$ending" "there is no $program"
    else
        for form in lp mps; do
            exits "model.$form.$ending" 0 \
                moirai-emit -q "$inception" -o "$work/packed.$form.$ending"
            "$program" -dc "$work/packed.$form.$ending" >"$work/unpacked"
            ok "unpacks to model.$form" cmp "$work/unpacked" "$work/model.$form"
        done
    fi
done

for folder in here there; do
    cp "$inception" "$top_srcdir/examples/inception.cluster.xml" "$work/$folder"
    exits "beside its inputs, $folder" 0 moirai-emit -q \
        "$work/$folder/inception.graphml" -o "$work/$folder/model.lp"
done
ok "the same bytes" cmp "$work/here/model.lp" "$work/there/model.lp"
ok "without paths" sh -c "! grep '^. file:' '$work/here/model.lp'"

moirai-emit -q -c "$top_srcdir/examples/inception.cluster.xml" - \
    <"$inception" >"$work/stdin.lp"
is "standard input has no name" "$(grep -c '^\\ graph:' "$work/stdin.lp")" 0
sed '/^\\ graph:/d; /^. file:.*graphml$/d; s/\(moirai_g_[0-9a-f]*\)_inception.graphml/\1/' \
    "$work/model.lp" | grep -v '^. digest:' >"$work/nameless.lp"
is "and is else the same" "$(grep -v '^. digest:' "$work/stdin.lp" |
    cmp - "$work/nameless.lp" 2>&1)" ""

# identity

digest='s/\([_.]\)[0-9a-f]\{16\}/\1HEX/'
is "where a model came from" \
    "$(identity "$work/model.lp" |
        sed "$digest; s/_u_10*\$/_u_NS/")" \
    "$(printf '%s\n' moirai_g_HEX_inception.graphml \
        moirai_c_HEX_inception.cluster.xml \
        moirai_o_compact.port.per_edge.static.default.HEX moirai_u_NS \
        moirai_i_HEX)"
is "the same in both formats" "$(identity "$work/model.mps")" \
    "$(identity "$work/model.lp")"
for name in $(identity "$work/model.lp"); do
    ok "$name is a column" grep -q "^ *$name = 1\$\|^ *1 <= $name <= 1\$" \
        "$work/model.lp"
done
ok "held by a row" grep -q '^ *identity_0: .*moirai_g_.* = 5$' "$work/model.lp"

exits "all options" 0 moirai-emit -q --formulation paper --congestion link \
    --memory none --closure --fusion eigen -o "$work/all.lp" "$inception"
is "are recorded" "$(identity "$work/all.lp" | grep '_o_' | sed "$digest")" \
    moirai_o_paper.link.per_edge.none.eigen.HEX
is "closure, too" "$(sed -n 's/^\\ formulation: //p' "$work/all.lp")" \
    "paper --closure"
echo 'conv relu' >"$work/my.rules"
exits "a file of rules" 0 \
    moirai-emit -q --fusion "$work/my.rules" -o "$work/rules.lp" "$inception"
ok "has a digest" grep -q '^\\ identity: moirai_f_[0-9a-f]*_' "$work/rules.lp"
is "and a keyword" "$(identity "$work/rules.lp" | grep '_o_' |
    sed "$digest")" moirai_o_compact.port.per_edge.static.file.HEX
is "the graph is the one that was read" \
    "$(identity "$work/rules.lp" | grep '_g_')" \
    "$(identity "$work/model.lp" | grep '_g_')"
exits "the graph as it is" 0 \
    moirai-emit -q --fusion none -o "$work/none.lp" "$inception"
is "is recorded, too" "$(identity "$work/none.lp" | grep '_o_' |
    sed "$digest")" moirai_o_compact.port.per_edge.static.none.HEX
for lp in model rules; do
    ok "$lp.lp has fewer ops" test "$(grep -c '^\\ op ' "$work/$lp.lp")" -lt \
        "$(grep -c '^\\ op ' "$work/none.lp")"
done
echo '<profile><link from="A" to="B" gbps="8"/></profile>' >"$work/p.xml"
exits "a profile" 0 \
    moirai-emit -q -c inter-server -p "$work/p.xml" -o "$work/p.lp" "$net"
ok "has a digest" grep -q '^\\ identity: moirai_p_[0-9a-f]*_' "$work/p.lp"

# stats

exits "--stats" 0 moirai-emit -q --stats "$inception"
for line in 'graph       '"$inception" 'ops         15, coarsened 8' 'devices     2' \
    'formulation compact' 'congestion  port' 'tensors     per-edge' \
    'memory      static'; do
    ok "it prints: $line" grep -qxF -e "$line" "$work/out"
done
exits "--stats --json" 0 moirai-emit -q --stats --json "$inception"
cp "$work/out" "$work/stats.json"
ok "is valid" "$python" -m json.tool "$work/stats.json"
is "keys stand in this order" \
    "$(sed -n 's/^  "\([a-z_]*\)":.*/\1/p' "$work/out" | tr '\n' ' ')" \
    "graph cluster ops coarse_ops flows devices formulation congestion tensors\
 memory unit_us horizon_us start rows columns binaries nonzeros\
 least_coefficient largest_coefficient least_big_m largest_big_m lp_bytes\
 mps_bytes families "
exits "--stats to a file" 0 \
    moirai-emit -q --stats --json "$inception" -o "$work/stats.mps"
ok "is no model" cmp "$work/stats.mps" "$work/stats.json"

for options in "" "--formulation paper" "--formulation paper --closure" \
    "--formulation getf" "--formulation sct" "--formulation pesto" \
    "--tensors per-edge --congestion channel" "--congestion none" \
    "--congestion link --memory live" "--fusion default"; do
    # shellcheck disable=SC2086
    exits "counting: ${options:-as it is}" 0 \
        moirai-emit -q --stats --json $options "$inception"
    for form in lp mps; do
        # shellcheck disable=SC2086
        moirai-emit -q --format $form $options "$inception" >"$work/counted"
        is "bytes as $form: ${options:-as it is}" \
            "$(value ${form}_bytes)" "$(bytes "$work/counted")"
    done
done

# Room for rows added by the user: longer schedules, no symmetry breaking.
cat >"$work/twins.xml" <<'END'
<cluster>
  <device id="A" model="t4"/>
  <device id="B" model="t4"/>
  <link between="A B" gbps="8"/>
</cluster>
END
exits "equal devices" 0 \
    moirai-emit -q --stats --json -c "$work/twins.xml" "$net"
ok "are distinguished" grep -q '"twin":' "$work/out"
horizon=$(value horizon_us)
exits "equal devices with slack" 0 \
    moirai-emit -q --stats --json --slack 2.5 -c "$work/twins.xml" "$net"
ok "are not" sh -c '! grep -q "\"twin\":" "$0"' "$work/out"
ok "and schedules may be longer" awk -v a="$horizon" -v b="$(value horizon_us)" \
    'BEGIN { exit !(b > 2.49 * a && b < 2.51 * a) }'

# map and start

exits "a map and a start" 0 moirai-emit -q --map "$work/map.csv" \
    --start "$work/start.sol" -o "$work/with.lp" "$inception"
ok "the model is the same" cmp "$work/with.lp" "$work/model.lp"
exits "its columns" 0 moirai-emit -q --stats --json "$inception"
is "each has a line in the map" "$(wc -l <"$work/map.csv" | tr -d ' ')" \
    "$(($(value columns) + 1))"
is "the first is the makespan" "$(sed -n 2p "$work/map.csv")" \
    'w,continuous,makespan,,,,,,,,'
is "the start has an objective" \
    "$(sed -n '1s/ .*//p' "$work/start.sol")" "=obj="
exits "a map without a model" 0 moirai-emit -q --stats --map "$work/m.csv" \
    -o "$work/s" "$inception"
ok "is the same map" cmp "$work/m.csv" "$work/map.csv"

# Two ops whose tensors fit on no device together, though nothing stays there.
cat >"$work/full.graphml" <<'END'
<graphml>
  <key id="m" for="node" attr.name="memory"/>
  <key id="w" for="node" attr.name="weight_bytes"/>
  <key id="t" for="node" attr.name="time_us.A"/>
  <key id="u" for="node" attr.name="time_us.B"/>
  <key id="s" for="edge" attr.name="bytes"/>
  <graph edgedefault="directed">
    <node id="a"><data key="m">600</data><data key="w">0</data>
      <data key="t">1</data><data key="u">1</data></node>
    <node id="b"><data key="m">600</data><data key="w">0</data>
      <data key="t">1</data><data key="u">1</data></node>
    <edge source="a" target="b"><data key="s">600</data></edge>
  </graph>
</graphml>
END
cat >"$work/full.cluster.xml" <<'END'
<cluster>
  <device id="A" memory_bytes="1000"/>
  <device id="B" memory_bytes="1000"/>
  <link between="A B" gbps="8"/>
</cluster>
END
echo old >"$work/none.sol"
complains "no start to be had" 1 "$work/none.sol: not written" moirai-emit -q \
    --memory live --start "$work/none.sol" -o "$work/full.lp" "$work/full.graphml"
is "the model is there" "$(tail -n 1 "$work/full.lp")" "End"
is "the old start is as it was" "$(cat "$work/none.sol")" "old"

# terminal

# Runs a command with a terminal as its standard output, and prints both.
on_terminal()
{
    "$python" - "$@" <<'END'
import os, subprocess, sys
ours, theirs = os.openpty()
result = subprocess.run(sys.argv[1:], stdout=theirs, stderr=subprocess.PIPE,
                        stdin=subprocess.DEVNULL, check=False)
os.close(theirs)
shown = b""
try:
    while chunk := os.read(ours, 4096):
        shown += chunk
except OSError:
    pass
sys.stdout.write(shown.decode())
sys.stderr.write(result.stderr.decode())
sys.exit(result.returncode)
END
}

if "$python" -c 'import os; os.openpty()' 2>/dev/null; then
    on_terminal moirai-emit -q "$inception" >"$work/out" 2>"$work/err"
    is "to a terminal is no error" "$?" 0
    is "but no model" "$(bytes "$work/out")" 0
    ok "there is a hint" grep -qF -e '-o model.lp' "$work/err"
    ok "of a few lines" test "$(wc -l <"$work/err")" -le 5
    on_terminal moirai-emit -q --map "$work/tty.csv" "$inception" \
        >"$work/out" 2>"$work/err"
    ok "a map is written all the same" cmp "$work/tty.csv" "$work/map.csv"
    on_terminal moirai-emit -q --stats "$inception" >"$work/out"
    ok "--stats is for terminals" grep -q '^rows' "$work/out"
else
    skip "to a terminal" "there are none here"
fi

# errors

complains "the paper sends no tensor once" 2 "compact" \
    moirai-emit --formulation paper --tensors once "$inception"
complains "closure is the paper's" 2 "--formulation paper" \
    moirai-emit --closure "$inception"
complains "--json alone" 2 "--stats" moirai-emit --json "$inception"
complains "a formulation that is none" 2 "compact" \
    moirai-emit --formulation guess "$inception"
complains "less than no slack" 2 "slack" moirai-emit --slack 0.5 "$inception"
complains "two on standard output" 2 "standard output" \
    moirai-emit --map - "$inception"
complains "two in one file" 2 "$work/x" \
    moirai-emit --map "$work/x" --start "$work/x" -o "$work/y" "$inception"
complains "by another way" 2 "cannot both" \
    moirai-emit --map "$work/x" -o "$work/here/../x" "$inception"
ln -s model.lp "$work/link.lp"
complains "or through a link" 2 "cannot both" \
    moirai-emit --map "$work/link.lp" -o "$work/model.lp" "$inception"
cp "$inception" "$work/own.graphml"
cp "${inception%.graphml}.cluster.xml" "$work/own.xml"
complains "over the graph" 2 "which is read" \
    moirai-emit -c "$work/own.xml" -o "$work/own.graphml" "$work/own.graphml"
complains "over the cluster" 2 "which is read" \
    moirai-emit -c "$work/own.xml" --map "$work/here/../own.xml" \
    -o "$work/no.lp" "$work/own.graphml"
is "and leaves it" "$(cat "$work/own.graphml")" "$(cat "$inception")"
found=$work/there/inception.cluster.xml
for option in -o --map --start; do
    # shellcheck disable=SC2016
    complains "over the cluster beside the graph, $option" 2 "which is read" \
        sh -c 'cd "$0" && exec moirai-emit -q "$1" inception.cluster.xml \
            inception.graphml' "$work/there" "$option"
    complains "over that of MOIRAI_CLUSTER, $option" 2 "which is read" \
        env MOIRAI_CLUSTER="$work/own.xml" \
        moirai-emit -q "$option" "$work/own.xml" "$work/own.graphml"
done
ok "and leaves that" cmp "$found" "$work/own.xml"
cp "$work/own.xml" "$work/roofline.xml"
complains "over the numbers of the cost model" 2 "which is read" \
    moirai-emit -q --cost "roofline:$work/roofline.xml" \
    -o "$work/roofline.xml" "$inception"
exits "two to nowhere" 0 \
    moirai-emit -q --map /dev/null -o /dev/null "$inception"
sed 's/memory_gib="[0-9]*"/memory_bytes="100"/' "$work/own.xml" \
    >"$work/small.xml"
complains "ops that fit no device" 3 "larger device" \
    moirai-emit -c "$work/small.xml" "$inception"
exits "unless memory does not count" 0 \
    moirai-emit -c "$work/small.xml" --memory none "$inception"
complains "two from standard input" 2 "standard input" moirai-emit -c - -
complains "a folder" 1 "folder" moirai-emit -q -o "$work/here" "$inception"
complains "a graph that is not there" 1 "$work/no.graphml" \
    moirai-emit -o "$work/no.lp" "$work/no.graphml"
is "leaves no model" "$(find "$work" -name '*no.lp*')" ""

# Larger than the buffer of a pipe, and slow enough to be interrupted.
moirai-zoo --layers 1 --hidden 256 --heads 32 -o "$work/large.graphml"
large="moirai-emit -q -c inter-server --formulation paper $work/large.graphml"

$large 2>"$work/err" | sed 1q >"$work/out"
is "a reader that goes away: one line" "$(wc -l <"$work/err" | tr -d ' ')" 1
# shellcheck disable=SC2016
complains "is a failure" 1 "standard output" \
    sh -c '{ $0; echo $? >"$1"; } | :; exit "$(cat "$1")"' "$large" "$work/rc"
if [ -w /dev/full ]; then
    for form in lp mps; do
        # shellcheck disable=SC2016
        complains "a full disk, $form" 1 "No space left" \
            sh -c 'moirai-emit -q --format $1 "$0" >/dev/full' \
            "$inception" "$form"
    done
    complains "a full disk, start" 1 "No space left" moirai-emit -q \
        --start /dev/full -o "$work/unwritten.lp" "$inception"
    ok "then there is no model either" test ! -e "$work/unwritten.lp"
else
    skip "a full disk" "there is no /dev/full"
fi

# Whether a process has written 100 KB into a file of a folder, which need not have
# a name there.
is_writing()
{
    for fd in /proc/"$1"/fd/*; do
        case $(readlink "$fd") in
        "$2"/*) [ "$(stat -Lc %s "$fd")" -lt 100000 ] || return 0 ;;
        esac
    done 2>/dev/null
    return 1
}

# interrupt SIGNAL: sends one in the middle of writing a file.
interrupt()
{
    echo old >"$work/there/model.lp"
    $large -o "$work/there/model.lp" 2>/dev/null &
    writer=$!
    tries=0
    until is_writing $writer "$work/there" || [ $tries -eq 300 ]; do
        sleep 0.1
        tries=$((tries + 1))
    done
    kill "-$1" $writer
    wait $writer
}

interrupt TERM 2>/dev/null
is "an interrupt leaves the old file" "$(cat "$work/there/model.lp")" "old"
is "and nothing beside it" "$(find "$work/there" -name '.model*')" ""
interrupt KILL 2>/dev/null
is "so does a kill" "$(cat "$work/there/model.lp")" "old"

# warnings

if ! is_watched; then
    moirai-zoo --layers 1 --hidden 280 --heads 70 -o "$work/huge.graphml"
    huge="moirai-emit --stats -c inter-server --formulation paper --fusion none"
    # shellcheck disable=SC2086
    exits "a model too large to solve" 0 $huge "$work/huge.graphml"
    is "is warned of once" "$(grep -c 'moirai-place' "$work/err")" 1
    # shellcheck disable=SC2086
    exits "but not with -q" 0 $huge -q "$work/huge.graphml"
    is "which prints nothing" "$(cat "$work/err")" ""
fi

# odd graphs

echo '<graphml><graph/></graphml>' >"$work/empty.graphml"
for form in lp mps; do
    exits "an empty graph as $form" 0 \
        moirai-emit -q -c inter-server --format $form "$work/empty.graphml"
done

cat >"$work/odd.graphml" <<'END'
<graphml>
  <key id="t" for="node" attr.name="time_us.A"/>
  <graph edgedefault="directed">
    <node id="End&#10;Binaries x_0_0"><data key="t">1</data></node>
    <node id="&quot;caf&#233;&quot;, \"><data key="t">1</data></node>
  </graph>
</graphml>
END
echo '<cluster><device id="A"/></cluster>' >"$work/one.xml"
for form in lp mps; do
    exits "odd names as $form" 0 moirai-emit -q -c "$work/one.xml" \
        --format $form --map "$work/odd.csv" "$work/odd.graphml"
    is "nothing but ASCII in it" \
        "$(tr -d '\n -~' <"$work/out" | wc -c | tr -d ' ')" 0
done
is "they are shown" "$(grep -c 'op . End.x0aBinaries x_0_0$' "$work/out")" 1
ok "and the map has them" "$python" -c 'import csv, sys
rows = list(csv.DictReader(open(sys.argv[1], newline="", encoding="utf-8")))
names = {row["op"] for row in rows if row["meaning"] == "place"}
assert names == {"End\nBinaries x_0_0", "\"caf\u00e9\", \\"}, names
' "$work/odd.csv"

# A unit of one's own: the same values, whatever their range.
unit_graph=$top_srcdir/examples/inception.graphml
for unit in ns us ms; do
    exits "--unit $unit" 0 moirai-emit -q --unit $unit "$unit_graph" \
        -o "$work/unit.lp" --start "$work/unit.sol"
    is "--unit $unit is in the heading" \
        "$(grep '^. time unit' "$work/unit.lp")" "\\ time unit: 1 $unit"
    exits "--unit $unit: a solution is read back" 0 \
        env MOIRAI_PATH="$top_srcdir/examples" moirai-check "$work/unit.sol"
    cp "$work/out" "$work/unit.$unit"
done
ok "the makespan is the same" cmp "$work/unit.us" "$work/unit.ms"
ok "in every unit" cmp "$work/unit.us" "$work/unit.ns"
complains "a unit that is too long" 2 'a unit of 1 s is too long' \
    moirai-emit -q --unit s "$unit_graph" -o "$work/unit.lp"
complains "a unit that is none" 2 '--unit' \
    moirai-emit --unit hours "$unit_graph"

done_testing
