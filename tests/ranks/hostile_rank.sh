#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A rank that has the token and breaks the protocol, as rank 0 and as another:
# the honest rank ends with status 1 and one line that names the cause, and
# never by a signal.
. "${top_srcdir:=.}/tests/support/tap.sh"
. "$top_srcdir/tests/ranks/ranks.sh"

ranks_or_skip tcp
hostile=$top_builddir/tests/ranks/hostile_rank
[ -x "$hostile" ] || skip_all "hostile_rank is not built"
"$hostile" tls || skip_all "TLS is not built in"

# Starts a pair: the number of the hostile rank and its word. The output of the
# honest one is in NAME.out, its status in NAME.status. Headers come behind the
# handshake, whose key takes 0.1 s to derive: without a token.
pair()
{
    next_port
    name=$1-$(echo "$2" | tr -c 'a-z0-9\n' _)
    pairs="$pairs $name"
    (
        MOIRAI_RANKS=2 MOIRAI_MASTER=127.0.0.1:$port
        MOIRAI_TOKEN=a-secret-of-two
        export MOIRAI_RANKS MOIRAI_MASTER MOIRAI_TOKEN
        patience=12
        case $2 in
        header=*) unset MOIRAI_TOKEN ;;
        addresses | name) patience=50 ;; # none waits that long
        esac
        MOIRAI_RANK=$1 timeout -k 1 60 "$hostile" "$2" \
            >"$work/$name.hostile" 2>&1 </dev/null &
        status=0
        MOIRAI_RANK=$((1 - $1)) timeout -k 1 60 "$exec_fault" \
            patience=$patience seed=3 elements=20000 >"$work/$name.out" 2>&1 </dev/null ||
            status=$?
        echo $status >"$work/$name.status"
        wait
    ) &
    started="$started $!"
    if [ "$(echo "$started" | wc -w)" -ge 6 ]; then
        finish_pairs
    fi
}

finish_pairs()
{
    for pid in $started; do
        wait "$pid"
    done
    started=
}

pairs=
started=
for r in 0 1; do
    for word in addresses no-addresses port name silent gone close text \
        loss \
        early-gates header=t,0,4611686018427387904 header=t,0,-1 header=t,7,8 \
        header=d,0,4611686018427387904 header=d,99,4 header=d,-1,4 \
        header=d,0,-1 header=r,12345,0 header=r,0,1 header=g,2,0 header=g,1,8 \
        header=x,0,0; do
        pair $r $word
    done
done
finish_pairs
pair 1 rank=0
pair 1 rank=5
pair 1 rank=-1
finish_pairs

for name in $pairs; do
    status=$(cat "$work/$name.status")
    [ "$status" = 1 ] && [ "$(wc -l <"$work/$name.out")" -eq 1 ] ||
        echo "$name: $status, $(head -3 "$work/$name.out")"
done >"$work/bad"
comment <"$work/bad"
is "$(echo "$pairs" | wc -w) hostile ranks: one line, status 1" \
    "$(wc -l <"$work/bad" | tr -d ' ')" 0
ok "2^30 addresses of rank 0 are named" grep -q \
    'rank 0 sends an endpoint of 1073741824 addresses' "$work/0-addresses.out"
ok "those of another rank, too" grep -q \
    'sends an endpoint of 1073741824 addresses' "$work/1-addresses.out"
ok "and it is refused" grep -q '^refused: ' "$work/1-addresses.hostile"
ok "an endless name" grep -q 'endless name' "$work/0-name.out"
ok "an unknown message" grep -q 'sends an unknown message' \
    "$work/1-header_x_0_0.out"
ok "votes out of turn" grep -q 'out of turn' "$work/1-early_gates.out" \
    "$work/0-early_gates.out"
ok "no escape sequence is printed" sh -c '! grep -q "$(printf "\033")" "$1"/*.out' \
    - "$work"
done_testing
