#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests of moirai-report: formats, measured times, several solutions, errors.
. "${top_srcdir:=.}/tests/support/tap.sh"

unset MOIRAI_CLUSTER MOIRAI_PATH
python=${MOIRAI_PYTHON:-python3}
work=$(cd "$work" && pwd -P)
cp "$top_srcdir/examples/inception.graphml" \
    "$top_srcdir/examples/inception.cluster.xml" "$work"
net=$work/inception.graphml
sol=$work/inception.sol
moirai-place -q --fusion none "$net" -o "$sol" >/dev/null
moirai-place -q --fusion none --method single "$net" \
    -o "$work/single.sol" >/dev/null

# formats

exits "a report as text" 0 moirai-report "$sol"
ok "says what it comes to" grep -q '^15 ops on 2 of 2 devices: one request takes 95.1 us' \
    "$work/out"
is "what bounds it, once" "$(grep '^No placement is faster' "$work/out")" \
    'No placement is faster (proven by certificate).'
ok "and the worth of a device" grep -q '^Without B it would take 16.8 % longer' \
    "$work/out"
ok "with a row for each device" grep -q '^A  *|#*|$' "$work/out"
ok "and each pair with transfers" grep -q '^B>A  *|[^|]*|$' "$work/out"
is "nothing is printed on stderr" "$(cat "$work/err")" ""

for format in html svg json trace text; do
    exits "format $format" 0 moirai-report --format $format "$sol"
    cp "$work/out" "$work/first.$format"
    exits "again" 0 moirai-report --format $format "$sol"
    ok "the same bytes" cmp -s "$work/out" "$work/first.$format"
done
exits "the format by the name of the file" 0 moirai-report "$sol" \
    -o "$work/named.svg"
ok "is that of the option" cmp -s "$work/named.svg" "$work/first.svg"
ok "the picture is XML" "$python" -c "import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])" "$work/first.svg"
ok "the page loads nothing" \
    sh -c "! grep -Eq '(src|href)=|url\(|@import|fetch\(|XMLHttp' '$work/first.html'"

# The critical path: tight from 0 to the makespan; shares add up to it.
exits "the data hold together" 0 "$python" - "$work/first.json" \
    "$work/first.trace" <<'PYTHON'
import json
import sys

page = json.load(open(sys.argv[1]))
p = page["placements"][0]
at = 0
for item in p["path"]:
    if "op" in item:
        start, time = p["start_us"][item["op"]], p["time_us"][item["op"]]
    else:
        t = p["transfers"][item["transfer"]]
        start, time = t["start_us"], t["time_us"]
    assert abs(start - at) < 1e-6, item
    at = start + time
assert abs(at - p["makespan_us"]) < 1e-6
for share in p["shares"]:
    whole = share["compute_us"] + share["transfer_us"] + share["idle_us"]
    assert abs(whole - p["makespan_us"]) < 1e-6
assert sum(s["ops"] for s in p["shares"]) == len(page["ops"]["name"])
events = json.load(open(sys.argv[2]))["traceEvents"]
calls = [e for e in events if e["ph"] == "X" and e["tid"] == 0]
assert len(calls) == len(page["ops"]["name"])
assert max(e["ts"] + e["dur"] for e in calls) == p["makespan_us"]
PYTHON

# names that are markup

"$python" - "$net" "$work/hostile.graphml" <<'PYTHON'
import sys

text = open(sys.argv[1]).read()
bad = "&lt;/script>&lt;img onerror='x'>&amp;"
open(sys.argv[2], "w").write(text.replace("b1_1x1", bad))
PYTHON
moirai-place -q --method single -c "$work/inception.cluster.xml" \
    "$work/hostile.graphml" -o "$work/hostile.sol" >/dev/null
exits "an op whose name is markup" 0 moirai-report --no-ablation \
    -c "$work/inception.cluster.xml" "$work/hostile.sol" -o "$work/hostile.html"
is "ends no script" "$(grep -c '</script><img' "$work/hostile.html")" 0
is "the page has as many scripts as any" \
    "$(grep -c '</script>' "$work/hostile.html")" \
    "$(grep -c '</script>' "$work/first.html")"

# measured times, several solutions, other commands

exits "a run" 0 moirai-exec -q --random-weights 1 --trace "$work/run.json" \
    --report-html "$work/exec.html" "$sol"
ok "writes the page, too" grep -q '"measured": {' "$work/exec.html"
exits "measured times" 0 moirai-report --trace "$work/run.json" "$sol"
ok "are told" grep -q '^Measured, it took' "$work/out"
ok "and drawn" grep -q '^  measured  *|' "$work/out"
exits "two solutions" 0 moirai-report --format json --no-ablation "$sol" \
    "$work/single.sol"
is "are both there" "$(grep -c '"objective_us":.*' "$work/out")" 7
exits "the whole way with a page" 0 moirai -q --report "$work/way.html" "$net"
ok "which is there" grep -q '"placements"' "$work/way.html"
exits "a solution of the period" 0 moirai-place -q --objective period --time 2 \
    --fusion none "$net" -o "$work/period.sol"
exits "is reported" 0 moirai-report "$work/period.sol"
ok "as such" grep -q 'one is finished every' "$work/out"
ok "with the resource that limits" \
    grep -q '^The bottleneck is device B, busy for 100.0 % of the period' \
    "$work/out"
ok "which no link is" grep -qx 'Faster links gain nothing with this placement.' \
    "$work/out"
is "and the better replication of moirai-place" "$(sed -n \
    's/^Replication is faster.* on each of 2 devices .* every \(.*\) us.$/\1/p' \
    "$work/out")" "$(moirai-place --objective period --time 2 --fusion none "$net" 2>&1 |
    sed -n 's/^replication on 2 devices is faster: \(.*\) us$/\1/p')"
exits "its check" 0 moirai-check "$work/period.sol"
ok "has the part of the period" grep -q '^B .* 100.0 % busy' "$work/out"
exits "its data" 0 moirai-report --format json --no-compare --no-ablation \
    "$work/period.sol"
exits "are the steady state" 0 "$python" - "$work/out" <<'PYTHON'
import json
import sys

page = json.load(open(sys.argv[1]))
p = page["placements"][0]
period = p["repeat_us"]
assert period == p["objective_us"] and "critical path" not in str(page["words"])
ends = [s + t for s, t in zip(p["start_us"], p["time_us"])]
assert abs(max(ends) - p["latency_us"]) < 1e-6 > period - max(ends)
# On a device no two ops overlap in a period, and compute is their sum.
for k, share in enumerate(p["shares"]):
    mine = [(s % period, t) for s, t, d in
            zip(p["start_us"], p["time_us"], p["device"]) if d == k]
    mine.sort()
    for (s, t), (then, _) in zip(mine, [*mine[1:], (mine[0][0] + period, 0)]):
        assert s + t <= then + 1e-6, (k, s, t, then)
    assert abs(sum(t for _, t in mine) - share["compute_us"]) < 1e-6
    whole = share["compute_us"] + share["transfer_us"] + share["idle_us"]
    assert abs(whole - period) < 1e-6
busiest = max(p["resources"], key=lambda one: one["busy_us"])
assert busiest == {"name": p["bottleneck"], "busy_us": p["objective_us"]}
assert page["replication"]["objective_us"] < p["objective_us"]
PYTHON
moirai-place -q --objective period --in-flight 1 --time 2 --fusion none "$net" \
    -o "$work/alone.sol" >/dev/null
exits "a limit in flight" 0 moirai-report --no-ablation "$work/alone.sol"
ok "limits the copies of a replication" sh -c \
    '! grep -q "each of 2 devices" "$1"' - "$work/out"
exits "live memory" 0 moirai-report --memory live --format json "$sol"
is "has more than one point" "$("$python" -c '
import json, sys
page = json.load(open(sys.argv[1]))
print(min(len(m) for m in page["placements"][0]["memory_use"]) > 1)' \
    "$work/out")" True

# errors

complains "a page of nothing" 1 'nope.sol: cannot open' \
    moirai-report "$work/nope.sol"
complains "another objective beside it" 1 'another objective' \
    moirai-report "$sol" "$work/period.sol"
complains "another graph beside it" 1 'another graph or cluster' \
    moirai-report -c "$work/inception.cluster.xml" "$sol" "$work/hostile.sol"
sed 's/"traceEvents"/"events"/' "$work/run.json" >"$work/no.json"
complains "a trace without events" 1 'no.json:1: has no list of traceEvents' \
    moirai-report --trace "$work/no.json" "$sol"
sed 's/"name":"A"/"name":"Z"/' "$work/run.json" >"$work/other.json"
complains "a trace of other devices" 1 'names a device' \
    moirai-report --trace "$work/other.json" "$sol"
head -c 700 "$work/run.json" >"$work/cut.json"
complains "half a trace" 1 'cut.json' \
    moirai-report --trace "$work/cut.json" "$sol"
complains "an unknown method" 2 "there is no method 'x'" \
    moirai-report --method x "$sol"
complains "the solution as output" 2 'would replace' \
    moirai-report "$sol" -o "$sol"
for input in inception.graphml inception.cluster.xml; do
    complains "$input, found for it, as output" 2 'which is read' \
        moirai-report "$work/single.sol" "$sol" -o "$work/$input"
done
ok "which are still there" moirai-check -q "$sol"
complains "a page to standard output" 2 'must be a file' \
    moirai --report - "$net"
complains "a page of a graph alone" 2 'for a solution' \
    moirai-exec -q --random-weights 1 --report-html "$work/x.html" "$net"
ok "leaves none" test ! -e "$work/x.html"

done_testing
