#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Two hosts with a cable between them, emulated by network namespaces: ranks
# connect across it, and name each other when it is cut.
. "${top_srcdir:=.}/tests/support/tap.sh"
. "$top_srcdir/tests/ranks/ranks.sh"

ranks_or_skip tcp
tau=mo-tau-$$
phi=mo-phi-$$

clean_up()
{
    ip netns del "$tau" 2>/dev/null
    ip netns del "$phi" 2>/dev/null
    rm -rf "$work"
}
trap clean_up EXIT

lay_cable()
{
    ip netns add "$tau" && ip netns add "$phi" &&
        ip -n "$tau" link add cable type veth peer name cable netns "$phi" &&
        ip -n "$tau" addr add 10.77.0.1/24 dev cable &&
        ip -n "$phi" addr add 10.77.0.2/24 dev cable &&
        ip -n "$tau" link set cable up && ip -n "$phi" link set cable up &&
        ip -n "$tau" link set lo up && ip -n "$phi" link set lo up
}

if ! command -v ip >/dev/null || ! lay_cable 2>/dev/null; then
    pass "no right to make namespaces: nothing to test"
    done_testing
    exit 0
fi

security=MOIRAI_TOKEN=cable
"$top_builddir/tests/ranks/hostile_rank" tls || security=MOIRAI_OPEN=1

# Rank, host, variables, arguments: the output is in rank.0, rank.1.
on()
{
    rank=$1
    machine=$2
    variables=$3
    shift 3
    # Variables are words.
    # shellcheck disable=SC2086
    ip netns exec "$machine" env MOIRAI_RANK="$rank" MOIRAI_RANKS=2 \
        MOIRAI_MASTER=10.77.0.1 $security $variables \
        timeout -k 1 90 "$exec_fault" "$@" >"$work/rank.$rank" 2>&1 </dev/null
}

both()
{
    on 0 "$tau" "$@" &
    pid=$!
    on 1 "$phi" "$@"
    ranks_wait $pid
}

# Claim, text, rank that has printed it.
printed()
{
    if grep -q "$2" "$work/rank.$3"; then
        pass "$1"
    else
        fail "$1"
        cat "$work"/rank.* | comment
    fi
}

both "" elements=50000 patience=60
printed "two machines" '^right: ' 0
on 0 "$tau" MOIRAI_BIND=10.77.0.1 seed=2 patience=60 &
pid=$!
on 1 "$phi" MOIRAI_BIND=10.77.0.2 seed=2 patience=60
ranks_wait $pid
printed "each listening at one address" '^right: ' 0
on 0 "$tau" MOIRAI_BIND=127.0.0.1 patience=1 &
pid=$!
on 1 "$phi" "" patience=1
ranks_wait $pid
printed "one that listens for its own machine only" \
    'rank 1 has never come to rank 0 at 10.77.0.1:29577' 0
printed "cannot be reached" 'rank 0 cannot be reached at 10.77.0.1:29577' 1

on 0 "$tau" "" slow runs=100000 patience=8 here="$work" &
pid=$!
on 1 "$phi" "" slow runs=100000 patience=8 here="$work" &
other=$!
await test -e "$work/begun.0"
await test -e "$work/begun.1"
sleep 2
ip -n "$tau" link set cable down
begin=$(date +%s)
ranks_wait $pid $other
printed "a cable that is cut" 'rank 1 (host .* has sent nothing' 0
printed "is noticed at both ends" 'rank 0 (host .* has sent nothing' 1
ok "in time" [ $(($(date +%s) - begin)) -le 25 ]
done_testing
