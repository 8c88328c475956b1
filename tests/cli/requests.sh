#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-valgrind
# Tests of moirai-exec --requests: any placement, any number of requests in
# flight: the outputs of single runs, in order; folders of inputs, failing ones,
# the report, memory, and errors.
. "${top_srcdir:=.}/tests/support/tap.sh"

unset MOIRAI_CLUSTER MOIRAI_PATH MOIRAI_TRANSPORT
MOIRAI_CUDA=
export MOIRAI_CUDA
work=$(cd "$work" && pwd -P)
cp -R "$top_srcdir/examples/two_branches" "$work/net"
chmod -R u+w "$work/net"
net=$work/net/model.xml
in=$work/net/input0.npy
sol=$work/net/model.sol
python=${MOIRAI_PYTHON:-python3}
moirai-place -q --time 2 "$net" -o "$sol" >/dev/null

value()
{
    sed -n "s/^  \"$1\": \(.*[^,]\),*\$/\1/p" "$work/out"
}

# ---- outputs

# Seed: a random placement on both devices.
scatter()
{
    moirai-check --json "$sol" | "$python" -c 'import json, random, sys
random.seed(int(sys.argv[1]))
for op in json.load(sys.stdin)["placement"]:
    print(op, random.choice(["fast", "slow"]))' "$1"
}

n=12
r=0
mkdir "$work/single"
while [ $r -lt $n ]; do
    moirai-exec -q --seed $r -o "$work/single/$r" "$net" >/dev/null 2>&1
    r=$((r + 1))
done

# Prints the requests in the folder whose outputs are not those of single runs.
different()
{
    for folder in "$1"/*; do
        r=$(basename "$folder" | sed 's/^0*\(.\)/\1/')
        cmp -s "$folder/output0.npy" "$work/single/$r/output0.npy" || echo "$r"
    done
}

for k in 1 2 3 4 5; do
    scatter $k >"$work/placement"
    rm -rf "$work/many"
    exits "$k in flight" 0 moirai-exec -q --graph "$net" --requests $n \
        --in-flight $k -o "$work/many" "$work/placement"
    is "all have outputs" "$(find "$work/many" -name output0.npy | wc -l)" $n
    is "which are those of single runs" "$(different "$work/many")" ""
done
exits "one request" 0 moirai-exec -q --requests 1 --in-flight 5 "$sol"
exits "on one device" 0 moirai-exec -q --requests 5 -o "$work/alone" "$net"
is "the same outputs" "$(different "$work/alone")" ""

# ---- inputs

mkdir "$work/in" "$work/in/0000" "$work/in/0002" "$work/in/0004"
cp "$in" "$work/in/0000/image.npy"
cp "$in" "$work/in/0002/input0.npy"
echo broken >"$work/in/0004/image.npy"
mkdir -p "$work/some/0001" "$work/some/0002" "$work/some/0005"
echo stale | tee "$work/some/0001/output0.npy" "$work/some/0002/output0.npy" \
    >"$work/some/0005/output0.npy"
exits "a folder of inputs, some missing" 1 \
    moirai-exec --json --inputs "$work/in" -o "$work/some" "$sol"
is "two are completed" "$(value completed)" 2
is "of as many as there are folders" "$(value requests)" 5
is "each failure has a line" "$(grep -c '^moirai-exec: request' "$work/err")" 3
ok "that names the file" grep -q \
    "request 4: $work/in/0004/image.npy: is no .npy file" "$work/err"
is "and is in the report" "$(grep -c '"reason":' "$work/out")" 3
is "what is not of this run stays" "$(cat "$work/some/0005/output0.npy")" stale
rm -r "$work/some/0005"
is "the others have outputs, those of an earlier run are gone" "$(cd "$work/some" && find . -name '*.npy' |
    sort | tr '\n' ' ')" "./0000/output0.npy ./0002/output0.npy "
ok "of the framework" moirai-exec -q -i "$in" --reference "$work/some/0002" \
    --tolerance 0 "$sol"
cp "$in" "$work/in/image.npy"
exits "one set for all" 1 moirai-exec --json --inputs "$work/in" "$sol"
is "fills the gaps" "$(value completed)" 4
mkdir "$work/set"
cp "$in" "$work/set"
exits "one set without folders" 0 \
    moirai-exec --json --inputs "$work/set" --requests 3 "$sol"
is "is for all" "$(value completed)" 3

# ---- report

exits "a report" 0 moirai-exec --requests 20 --in-flight 4 \
    --plan "$work/plan.json" "$sol"
for line in 'predicted   .* a request' 'measured    .* a request' \
    'throughput  .* requests/s' 'latency     p50 .*, p95 .*, p99 ' \
    'requests    20 of 20 done, 4 in flight' \
    'bottleneck  device fast; predicted device fast' \
    'device slow .*[0-9] %' 'in-port slow .* - .*%' \
    'fast .* values 4 times .* allocated 4 times '; do
    ok "has $line" grep -q "^$line" "$work/out"
done
ok "and a plan" test -s "$work/plan.json"
exits "as JSON" 0 moirai-exec --json --requests 9 --congestion channel "$sol"
ok "is JSON" "$python" -c 'import json, sys
t = json.load(open(sys.argv[1]))
loads = [r["predicted_us"] for r in t["resources"]]
assert max(loads) == t["predicted_period_us"]
assert t["p50_us"] <= t["p95_us"] <= t["p99_us"]
assert any(r["kind"] == "channel" for r in t["resources"])
for d in t["by_device"]:
    assert d["slot_bytes"] == d["planned_slot_bytes"] > 0' "$work/out"

# ---- memory, errors

exits "what one request needs" 0 moirai-exec --json --requests 1 \
    --in-flight 1 "$sol"
sed 's/memory_gib="1"/memory_bytes="9000000"/' \
    "$work/net/model.cluster.xml" >"$work/small.xml"
moirai-place -q --time 2 -c "$work/small.xml" "$net" -o "$work/small.sol" \
    >/dev/null
exits "fits" 0 moirai-exec -q -c "$work/small.xml" --graph "$net" \
    --requests 3 --in-flight 1 "$work/small.sol"
complains "and fifty do not" 1 "lower --in-flight" \
    moirai-exec -q -c "$work/small.xml" --graph "$net" --requests 3 \
    --in-flight 50 -o "$work/never" "$work/small.sol"
ok "before anything starts" test ! -e "$work/never"
complains "runs and requests" 2 "--runs is for single runs" \
    moirai-exec --runs 3 --requests 4 "$sol"
complains "how many there are" 2 "--in-flight goes with --requests" \
    moirai-exec --in-flight 4 "$sol"
complains "no folders" 2 "has no folders 0000" \
    moirai-exec --inputs "$work/set" "$sol"
complains "no folder" 1 "none: cannot open" \
    moirai-exec --inputs "$work/none" "$sol"
complains "a folder that cannot be made" 1 "cannot make the folder" \
    moirai-exec -q --requests 2 -o "$work/no/such" "$sol"

done_testing
