#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Strangers without the token at the port of rank 0, while the ranks meet: a
# connection that sends a byte now and then, many idle ones, random bytes, the
# recorded bytes of a rank of an earlier job, connections that close at once.
# The job ends right, strangers get no more than the salt and the alert that
# anybody gets, and nothing is left. MOIRAI_HOSTILE=1: 1,000 idle connections
# instead of 200.
. "${top_srcdir:=.}/tests/support/tap.sh"
. "$top_srcdir/tests/ranks/ranks.sh"

ranks_or_skip tcp
"$top_builddir/tests/ranks/hostile_rank" tls || skip_all "TLS is not built in"
command -v "${MOIRAI_PYTHON:=python3}" >/dev/null || skip_all "no Python"

next_port
record_port=$port
next_port
n_idle=200
[ -z "${MOIRAI_HOSTILE-}" ] || n_idle=1000

# RANK PORT: one of two ranks with the token; its output is in rank.RANK.
start()
{
    env MOIRAI_RANK="$1" MOIRAI_RANKS=2 MOIRAI_MASTER=127.0.0.1:"$2" \
        MOIRAI_TOKEN=a-secret-of-two timeout -k 1 90 "$exec_fault" seed=5 \
        patience=60 >"$work/rank.$1" 2>&1 </dev/null
}

# a recording of a good job

# Forwards the connections of rank 1 to rank 0, and writes the bytes that rank 1
# sends on the first one.
cat >"$work/record.py" <<'END'
import socket, sys, threading
listen, connect, name = sys.argv[1:]
listener = socket.create_server(("127.0.0.1", int(listen)))
def pump(source, target, log):
    try:
        while data := source.recv(65536):
            if log:
                log.write(data)
                log.flush()
            target.sendall(data)
    except OSError:
        pass
    for end in source, target:
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
log = open(name, "wb")
while True:
    client, _ = listener.accept()
    try:
        server = socket.create_connection(("127.0.0.1", int(connect)))
    except OSError:
        client.close()
        continue
    threading.Thread(target=pump, args=(client, server, log)).start()
    threading.Thread(target=pump, args=(server, client, None)).start()
    log = None
END

start 0 $port &
pid=$!
listens()
{
    grep -q ":$(printf %04X "$1") 00000000:0000 0A" /proc/net/tcp
}
await listens $port
"$MOIRAI_PYTHON" "$work/record.py" $record_port $port "$work/recorded" \
    2>"$work/record.err" &
recorder=$!
await listens $record_port
start 1 $record_port
wait $pid
kill -9 $recorder
wait $recorder 2>/dev/null
ok "a job is recorded" grep -q '^right: ' "$work/rank.0"
ok "with the hello of rank 1" test -s "$work/recorded"

# strangers

# Prints the most bytes that a stranger got, when its input ends.
cat >"$work/strangers.py" <<'END'
import os, random, resource, socket, sys, threading, time
port, n_idle, recorded = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
dice = random.Random(7)
all_sockets = []
def connect():
    s = socket.create_connection(("127.0.0.1", port), timeout=10)
    s.setblocking(False)
    all_sockets.append(s)
    return s
def send(s, data):
    try:
        s.send(data)
    except OSError:
        pass
replay = open(recorded, "rb").read()
slow = [connect() for _ in range(3)]
for s in [connect() for _ in range(20)]:
    send(s, dice.randbytes(dice.choice([1, 5, 64, 1000, 60000])))
for _ in range(20):
    send(connect(), replay)
for at in (1, 16, len(replay) // 2):
    send(connect(), replay[:at])
for _ in range(50):
    connect().close()
refused = 0
for _ in range(n_idle):
    try:
        connect()
    except OSError:
        refused += 1
stop = threading.Event()
def drip():
    at = 0
    while not stop.wait(0.2):
        for s in slow:
            send(s, replay[at:at + 1])
        at += 1
threading.Thread(target=drip).start()
print("connected", len(all_sockets), "refused", refused, flush=True)
sys.stdin.read()
stop.set()
most = 0
text = b""
for s in all_sockets:
    got = b""
    try:
        while data := s.recv(65536):
            got += data
    except OSError:
        pass
    most = max(most, len(got))
    text += got
print("most", most)
print("secret", sum(word in text for word in (b"a-secret-of-two", b"127.0.0.1",
    os.uname().nodename.encode() + b"\0")))
END

next_port
start 0 $port &
pid=$!
await listens $port
mkfifo "$work/end"
"$MOIRAI_PYTHON" "$work/strangers.py" $port $n_idle "$work/recorded" \
    <"$work/end" >"$work/strangers" 2>"$work/strangers.err" &
strangers=$!
exec 9>"$work/end"
ok "strangers connect" await grep -q '^connected' "$work/strangers"
start 1 $port
status_1=$?
wait $pid
is "the ranks succeed" $?.$status_1 0.0
ok "and the job is right" grep -q '^right: ' "$work/rank.0"
exec 9>&-
wait $strangers
comment <"$work/strangers"
comment <"$work/strangers.err"
most=$(sed -n 's/^most //p' "$work/strangers")
ok "a stranger gets a few bytes at most" test "${most:-99999}" -lt 2000
is "and nothing of the job" "$(sed -n 's/^secret //p' "$work/strangers")" 0
ok "nothing listens any more" sh -c \
    "! grep -q ':$(printf %04X $port) 00000000:0000 0A' /proc/net/tcp"
done_testing
