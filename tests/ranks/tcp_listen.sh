#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Where ranks listen, in a network namespace of their own: on loopback without
# a master on the network, at the address of --bind alone, and nowhere at all
# without a token.
. "${top_srcdir:=.}/tests/support/tap.sh"
. "$top_srcdir/tests/ranks/ranks.sh"

ranks_or_skip tcp
space=mo-listen-$$

clean_up()
{
    ip netns del "$space" 2>/dev/null
    rm -rf "$work"
}
trap clean_up EXIT

make_space()
{
    ip netns add "$space" && ip -n "$space" link set lo up &&
        ip -n "$space" addr add 10.78.0.1/24 dev lo
}

if ! command -v ip >/dev/null || ! make_space 2>/dev/null; then
    pass "no right to make namespaces: nothing to test"
    done_testing
    exit 0
fi

# The addresses that are listened at, as in /proc/net/tcp, in one line.
listening()
{
    ip netns exec "$space" sh -c 'cat /proc/net/tcp /proc/net/tcp6' |
        awk '$4 == "0A" { sub(":.*", "", $2); print $2 }' | sort -u |
        tr '\n' ' '
}

listens()
{
    [ -n "$(listening)" ]
}

# Claim, addresses, variables: of a rank 0 that waits for another.
at()
{
    # Variables are words.
    # shellcheck disable=SC2086
    ip netns exec "$space" env MOIRAI_RANK=0 MOIRAI_RANKS=2 $3 \
        timeout -k 1 30 "$exec_fault" patience=3 >"$work/out" 2>&1 &
    pid=$!
    await listens
    is "$1" "$(listening)" "$2"
    wait $pid
}

security=MOIRAI_TOKEN=0123456789abcdef
"$top_builddir/tests/ranks/hostile_rank" tls || security=MOIRAI_OPEN=1
at "by default: loopback" "0100007F " ""
at "a master on loopback" "0100007F " MOIRAI_MASTER=127.0.0.1:7000
at "with ${security%%=*}, too" "0100007F " \
    "MOIRAI_MASTER=127.0.0.1:7001 $security"
at "an address of --bind" "01004E0A " \
    "MOIRAI_MASTER=10.78.0.1:7002 MOIRAI_BIND=10.78.0.1 $security"

# Refused before anything listens.
status=0
ip netns exec "$space" env MOIRAI_RANK=0 MOIRAI_RANKS=2 \
    MOIRAI_MASTER=10.78.0.1:7003 timeout -k 1 30 "$exec_fault" patience=3 \
    >"$work/out" 2>&1 || status=$?
is "without a token" "$status" 1
ok "a rank is refused" grep -q 'need a token' "$work/out"
done_testing
