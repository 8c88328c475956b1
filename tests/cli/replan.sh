#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers
# Re-planning and worst cases: moirai-place --from, --drop-device, --stress.
. "${top_srcdir:=.}/tests/support/tap.sh"

cp "$top_srcdir/examples/inception.graphml" \
    "$top_srcdir/examples/inception.cluster.xml" "$work"
cd "$work" || exit 99
net=inception.graphml
place="moirai-place -q --threads 1 --assist none --work 0.02"

# key NAME: its first number in the report in "out".
key()
{
    sed -n "s/^.*\"$1\": \([0-9.]*\).*/\1/p" out | head -n 1
}

moirai-place -q --threads 1 --assist none $net -o old.sol >/dev/null
exits "nothing has changed" 0 $place --from old.sol --json $net
is "nothing moves" "$(key moved_ops)" 0
is "it is as before" "$(key after_us)" "$(key before_us)"
cp out first
$place --from old.sol --json --threads 2 $net | sed '/seconds/d' >second
is "two threads change nothing" "$(sed '/seconds/d' first)" "$(cat second)"

exits "a device less" 0 $place --from old.sol --drop-device A $net -o new.sol
ok "moves are listed" grep -q '^    b1_1x1 from A to B, 48.0 KiB$' out
ok "the time before is that with the device" \
    grep -q '^before  *63.7 us with the device left out$' out
exits "is a solution" 0 moirai-check --json new.sol
ok "without that device" sh -c '! grep -q ": \"A\"" out'
exits "without an old placement, too" 0 $place --json --drop-device A $net
is "it is that of the other device" "$(key makespan_us)" 117.1
exits "by another method" 0 $place --json --from old.sol --method moirai,heft \
    --drop-device A $net
is "three rows" "$(grep -c '"method"' out)" 3

# A list of names, of a network that has more ops, on a device that is gone.
cat >names <<'EOF'
concat B
nobody A
b1_1x1 elsewhere
EOF
exits "a list of some ops" 0 $place --json --from names $net
ok "there is no time before" sh -c '! grep -q before_us out'
exits "a placement by name" 0 sh -c \
    "moirai-check --schedule all.json old.sol >/dev/null &&
    $place --json --from all.json $net"
ok "is no worse than that" \
    awk "BEGIN { exit !($(key after_us) <= $(key before_us)) }"

# Another cluster: the old one is found by its digest.
sed 's/id="B"/id="C"/; s/ B"/ C"/; s/to="B"/to="C"/; s/from="B"/from="C"/' \
    inception.cluster.xml >other.cluster.xml
sed 's/time_us[.]B/time_us.C/' $net >other.graphml
exits "a device of another name" 0 $place --json --from old.sol other.graphml
ok "takes what was on the old one" grep -q '"from": "B", "to": "C"' out

# Weights are expensive to move: with few requests nothing moves.
sed -n 's/^ *"\([^"]*\)": "[AB]".*/\1 B/p' all.json >slow
exits "moves are free" 0 $place --json --from slow $net
ok "some ops move" test "$(key moved_ops)" -gt 0
ok "and that pays off" test "$(key paid_off_after)" -gt 0
exits "for one request" 0 $place --json --from slow --move-cost 0.0001 $net
is "they do not, but for those without weights" "$(key moved_bytes)" 0
exits "for many" 0 $place --json --from slow --move-cost 1e9 $net
ok "they do" test "$(key moved_bytes)" -gt 0
exits "with the period" 0 $place --json --objective period --from slow $net
ok "they move, too" test "$(key moved_ops)" -gt 0
exits "and in flight" 0 $place --json --objective period --in-flight 2 \
    --from slow $net
ok "no worse than before" \
    awk "BEGIN { exit !($(key after_us) <= $(key before_us)) }"

for objective in latency period; do
    exits "worst cases" 0 $place --json --stress 1.5 --objective $objective \
        -o robust.sol $net
    is "$objective: two methods" "$(grep -c '"worst_us"' out)" 2
    ok "$objective: the best is first" \
        awk -F'[:,]' '/worst_us/ { if (n++ && $5 < w) exit 1; w = $5 }' out
    exits "$objective: which is written" 0 moirai-check robust.sol
done
exits "after re-planning" 0 $place --json --stress 2 --from old.sol $net
is "two methods" "$(grep -c '"worst_us"' out)" 2
complains "worst cases and an ablation" 2 "--stress and --ablation" \
    $place --stress 2 --ablation $net
complains "in flight" 2 "--stress has no period" \
    $place --stress 2 --objective period --in-flight 2 $net
complains "no such file" 1 "nowhere.sol" $place --from nowhere.sol $net
complains "no such device" 2 "there is no device 'Z'" $place --drop-device Z $net
complains "no device left" 2 "leaves no device over" \
    $place --drop-device A --drop-device B $net
complains "a cost of nothing" 2 "--move-cost needs --from" \
    $place --move-cost 3 $net
complains "a cost for other methods" 2 "leave one out" \
    $place --move-cost 3 --from old.sol --method moirai $net
complains "an ablation" 2 "--from and --ablation" \
    $place --from old.sol --ablation $net

echo '{}' >"$work/none.json"
complains "a placement of another network" 1 "places no op of this network" \
    moirai-place -q --from "$work/none.json" \
    "$top_srcdir/examples/inception.graphml"
done_testing
