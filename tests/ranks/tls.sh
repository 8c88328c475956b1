#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Ranks that are connected by TLS: with a token, with --plain, with
# certificates; a process between them that alters bytes; credentials that do
# not match.
. "${top_srcdir:=.}/tests/support/tap.sh"
. "$top_srcdir/tests/ranks/ranks.sh"

ranks_or_skip tcp
moirai-exec --version | grep -q OpenSSL || skip_all "TLS is not built in"
command -v openssl >/dev/null || skip_all "there is no openssl"
command -v "${MOIRAI_PYTHON:=python3}" >/dev/null || skip_all "no Python"
unset MOIRAI_PLAIN MOIRAI_OPEN MOIRAI_TLS_CERT MOIRAI_TLS_KEY MOIRAI_TLS_CA


# RANK MASTER-PORT VARIABLES ARGUMENTS...: its output is in $ranks/rank.RANK.
ranks=$work
start()
{
    rank=$1
    master=$2
    variables=$3
    shift 3
    # Variables are words.
    # shellcheck disable=SC2086
    env MOIRAI_RANK="$rank" MOIRAI_RANKS=2 MOIRAI_MASTER=127.0.0.1:$master \
        $variables timeout -k 1 90 "$exec_fault" "$@" \
        >"$ranks/rank.$rank" 2>&1 </dev/null
}

# VARIABLES-OF-0 VARIABLES-OF-1 ARGUMENTS...: two ranks; their status.
pair()
{
    of_0=$1
    of_1=$2
    shift 2
    next_port
    start 0 $port "$of_0" "$@" &
    pid=$!
    start 1 $port "$of_1" "$@"
    status_1=$?
    wait $pid
    status_0=$?
}

all_right()
{
    pair "$2" "$2" seed=5 patience=60
    if [ $status_0 -eq 0 ] && [ $status_1 -eq 0 ] &&
        grep -q '^right: ' "$work/rank.0"; then
        pass "$1"
    else
        fail "$1"
        comment <"$work/rank.0"
        comment <"$work/rank.1"
    fi
}

# Runs a command as a rank of refused pair $n; keeps its status.
rank_of_pair()
{
    status=0
    "$@" || status=$?
    echo $status >"$ranks/status.$2"
}

# CLAIM VARIABLES-OF-0 VARIABLES-OF-1 ERROR-OF-0 ERROR-OF-1: begins both ranks.
# The one that refuses waits for another until its patience ends: all pairs wait
# at a time.
n_refused=0
refused()
{
    n_refused=$((n_refused + 1))
    ranks=$work/refused.$n_refused
    mkdir "$ranks"
    printf '%s\n' "$1" >"$ranks/claim"
    printf '%s\n' "$4" >"$ranks/error.0"
    printf '%s\n' "$5" >"$ranks/error.1"
    next_port
    rank_of_pair start 0 $port "$2" seed=5 patience=30 &
    rank_of_pair start 1 $port "$3" seed=5 patience=30 &
    ranks=$work
}

# Claims about all pairs begun.
all_are_refused()
{
    wait
    for n in $(seq $n_refused); do
        ranks=$work/refused.$n
        claim=$(cat "$ranks/claim")
        is "$claim: no rank succeeds" \
            "$(cat "$ranks/status.0" "$ranks/status.1" | tr '\n' ' ')" "1 1 "
        for r in 0 1; do
            ok "$claim: rank $r names the reason" \
                grep -q -f "$ranks/error.$r" "$ranks/rank.$r"
        done
    done
}

all_right "a token seals all connections" MOIRAI_TOKEN=a-long-enough-token
all_right "a token and plain values" \
    "MOIRAI_TOKEN=a-long-enough-token MOIRAI_PLAIN=1"
refused "--plain on one rank only" "MOIRAI_TOKEN=t MOIRAI_PLAIN=1" \
    MOIRAI_TOKEN=t "rank 1 .*was not given --plain" "refuses: rank 1"
refused "a token on one rank only" MOIRAI_TOKEN=t "" \
    "rank 1 .*has neither token nor certificate, but rank 0 has a token" \
    "rank 0 .*has a token, but this rank has neither"

# a process in between

# Forwards bytes between rank 1 and rank 0, and alters the byte at this position
# of what the given side sends.
cat >"$work/relay.py" <<'END'
import socket, sys, threading
listen, connect, side, position = sys.argv[1:]
listener = socket.create_server(("127.0.0.1", int(listen)))
def pump(source, target, alter):
    at = 0
    try:
        while data := bytearray(source.recv(65536)):
            if alter and at <= int(position) < at + len(data):
                data[int(position) - at] ^= 1
            at += len(data)
            target.sendall(data)
    except OSError:
        pass
    for end in source, target:
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
while True:
    client, _ = listener.accept()
    try:
        server = socket.create_connection(("127.0.0.1", int(connect)))
    except OSError:
        client.close()
        continue
    threading.Thread(target=pump, args=(client, server, side == "1")).start()
    threading.Thread(target=pump, args=(server, client, side == "0")).start()
END

# SIDE POSITION [SECONDS]: an altered byte of the rendezvous.
altered()
{
    patience=${3:-3}
    next_port
    relay_port=$port
    next_port
    "$MOIRAI_PYTHON" "$work/relay.py" $relay_port $port "$1" "$2" \
        2>"$work/relay.err" &
    relay=$!
    start 0 $port MOIRAI_TOKEN=a-long-enough-token seed=5 patience=$patience &
    pid=$!
    start 1 $relay_port MOIRAI_TOKEN=a-long-enough-token seed=5 \
        patience=$patience
    status_1=$?
    wait $pid
    status_0=$?
    kill -9 $relay
    wait $relay 2>/dev/null
}

altered 0 -1 60
ok "a process in between that alters nothing" \
    test "$status_0.$status_1" = 0.0
# Salt, server hello, verdict, endpoints; client hello, finished, hello.
for at in 0.30 0.120 0.400 0.900 1.100 1.420 1.700; do
    altered "${at%.*}" "${at#*.}"
    is "byte ${at#*.} of rank ${at%.*} altered: no rank succeeds" \
        "$status_0.$status_1.$(cat "$work"/rank.? | grep -c '^right')" 1.1.0
done

# certificates

(
    cd "$work" || exit 1
    for ca in ca other; do
        openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes \
            -days 2 -subj "/CN=$ca" -keyout $ca.key -out $ca.pem || exit 1
    done
    openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes \
        -subj /CN=node -keyout node.key -out node.csr || exit 1
    openssl x509 -req -in node.csr -CA ca.pem -CAkey ca.key -days 2 \
        -set_serial 1 -out node.pem || exit 1
    openssl x509 -req -in node.csr -CA other.pem -CAkey other.key -days 2 \
        -set_serial 2 -out foreign.pem || exit 1
    for usage in server client; do
        echo "extendedKeyUsage=${usage}Auth" >$usage.ext
        openssl x509 -req -in node.csr -CA ca.pem -CAkey ca.key -days 2 \
            -set_serial 4 -extfile $usage.ext -out $usage.pem || exit 1
    done
    openssl x509 -req -in node.csr -CA ca.pem -CAkey ca.key -days -1 \
        -set_serial 3 -out expired.pem
) >"$work/openssl.log" 2>&1 || comment <"$work/openssl.log"

files()
{
    echo "MOIRAI_TLS_CERT=$work/$1.pem MOIRAI_TLS_KEY=$work/node.key" \
        "MOIRAI_TLS_CA=$work/ca.pem"
}

all_right "certificates of one authority" "$(files node)"
pair "$(files server)" "$(files client)" seed=5
is "rank 0 is a server, the last rank a client" $status_0.$status_1 0.0
refused "a certificate for servers alone" "$(files node)" "$(files server)" \
    "not accepted: unsuitable certificate purpose" \
    "rank 0 .*does not accept the certificate of this rank"
refused "a certificate of another authority" "$(files node)" \
    "$(files foreign)" "rank 1 .*has a certificate that is not accepted: " \
    "rank 0 .*does not accept the certificate of this rank"
if [ -s "$work/expired.pem" ]; then
    refused "an expired certificate" "$(files node)" "$(files expired)" \
        "not accepted: certificate has expired" \
        "rank 0 .*does not accept the certificate of this rank"
fi
refused "a certificate and a token" "$(files node)" MOIRAI_TOKEN=t \
    "rank 1 .*has a token, but rank 0 has a certificate" \
    "rank 0 .*has a certificate, but this rank has a token"
pair "MOIRAI_TLS_CERT=$work/none.pem MOIRAI_TLS_KEY=$work/node.key MOIRAI_TLS_CA=$work/ca.pem" \
    "$(files node)" patience=1
ok "a missing file is named" grep -q 'none.pem: no certificate in PEM format' \
    "$work/rank.0"
all_are_refused
done_testing
