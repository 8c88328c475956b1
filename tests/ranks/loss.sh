#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-valgrind no-sanitizers
# Tests of moirai-exec --on-loss replan: streams of which ranks are killed,
# stopped or cut off have the outputs of undisturbed ones; what cannot go on
# ends with one line and keeps its outputs.
# shellcheck disable=SC2034,SC2154
. "${top_srcdir:=.}/tests/support/tap.sh"
. "$top_srcdir/tests/ranks/ranks.sh"

ranks_or_skip tcp
command -v "${MOIRAI_PYTHON:=python3}" >/dev/null || skip_all "no Python"
unset MOIRAI_CLUSTER MOIRAI_PATH
MOIRAI_CUDA=
export MOIRAI_CUDA top_builddir
exec=$top_builddir/moirai-exec
cp -R "$top_srcdir/examples/two_branches" "$work/net"
chmod -R u+w "$work/net"

# In .ci/run a few, with MOIRAI_LONG the campaign: outputs are compared, and a
# recovery may take long where all processors are busy.
n=$(cases 2 5 200)
networks=$work/net/model.xml
[ "$n" -lt 100 ] || networks="$networks $top_srcdir/examples/residual/model.onnx"
[ "$n" -lt 100 ] || [ -z "${MOIRAI_DATA-}" ] ||
    networks="$networks $MOIRAI_DATA/runnable/small_bert/model.xml"
# Paths are words.
# shellcheck disable=SC2086
ok "$n losses: all outputs, in order, each once" "$MOIRAI_PYTHON" \
    "$top_srcdir/tests/ranks/loss_case.py" "$work" 7 "$n" 30 $networks
sed 's/^/# /' "$work/ok.log"

# Two devices, one of which cannot hold the network alone.
cat >"$work/net/small.xml" <<EOF
<cluster name="small">
  <device id="a" kind="cpu" gflops="20" memory_bandwidth_gbs="10"
    launch_us="2" memory_gib="1" threads="1"/>
  <device id="b" kind="cpu" gflops="20" memory_bandwidth_gbs="10"
    launch_us="2" memory_gib="1" threads="1"/>
  <link between="a b" gbps="40" latency_us="5"/>
</cluster>
EOF
moirai-place -q --time 1 -c "$work/net/small.xml" --objective period \
    "$work/net/model.xml" -o "$work/net/roomy.sol" >/dev/null
# 419 KiB on each.
sed 's/memory_gib="1"/memory_gib="0.0004"/' "$work/net/small.xml" \
    >"$work/net/tight.xml"
moirai-place -q --time 1 -c "$work/net/tight.xml" --objective period \
    "$work/net/model.xml" -o "$work/net/tight.sol" >/dev/null

# Starts the ranks of a long stream in the background; after -- a solution.
start()
{
    folder=$1
    shift
    next_port
    for r in 0 1; do
        MOIRAI_RANK=$r MOIRAI_RANKS=2 MOIRAI_MASTER=127.0.0.1:$port \
            "$exec" --on-loss replan --transport tcp --requests ${n_requests-1000000} \
            --pin off -o "$folder" "$@" >/dev/null 2>"$folder.$r" </dev/null &
        eval "pid_$r=$!"
    done
}

has_outputs()
{
    [ -e "$1/0020/output0.npy" ]
}

start "$work/first" "$work/net/roomy.sol"
ok "a stream runs" await has_outputs "$work/first"
kill -9 "$pid_0"
status=0
wait "$pid_1" || status=$?
is "without rank 0 the other rank ends with 1" "$status" 1
is "and one line" "$(wc -l <"$work/first.1")" 1
ok "that names it" grep -q "rank 0 (.*) is gone" "$work/first.1"
ok "and the outputs stay" has_outputs "$work/first"

start "$work/tight" --in-flight 1 "$work/net/tight.sol"
ok "a stream on small devices runs" await has_outputs "$work/tight"
kill -9 "$pid_1"
status=0
wait "$pid_0" || status=$?
is "which the other cannot replace: it ends with 1" "$status" 1
ok "the error has what is missing" grep -q \
    "device 'a' is too small by [0-9]* bytes" "$work/tight.0"
is "all outputs that it counts are there" \
    "$(sed -n 's/.*; \([0-9]*\) of [0-9]* requests were.*/\1/p' "$work/tight.0")" \
    "$(find "$work/tight" -name output0.npy | wc -l)"
comment <"$work/tight.0"

start "$work/asleep" "$work/net/roomy.sol"
ok "a stream runs" await has_outputs "$work/asleep"
kill -STOP "$pid_1"
ok "a stopped rank is lost, and the stream goes on" await \
    grep -q 'has sent nothing' "$work/asleep.0"
kill -CONT "$pid_1"
status=0
wait "$pid_1" || status=$?
is "when it goes on it ends with 1" "$status" 1
is "and one line" "$(wc -l <"$work/asleep.1")" 1
kill -9 "$pid_0"
status=0
wait "$pid_0" || status=$?
is "the other one was running" "$status" 137

# The address of rank 0 is taken when the others join again.
start "$work/taken" "$work/net/roomy.sol"
ok "a stream runs" await has_outputs "$work/taken"
"$MOIRAI_PYTHON" -c 'import socket, sys, time
taken = socket.socket()
taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
taken.bind(("127.0.0.1", int(sys.argv[1])))
taken.listen()
print(flush=True)
time.sleep(60)' "$port" >"$work/bound" &
squatter=$!
ok "whose address is taken" await test -s "$work/bound"
kill -9 "$pid_1"
status=0
wait "$pid_0" || status=$?
kill "$squatter"
is "cannot recover and ends with 1" "$status" 1
ok "with the number of outputs" grep -q \
    "$port.*; $(find "$work/taken" -name output0.npy | wc -l) of [0-9]* requests" \
    "$work/taken.0"
comment <"$work/taken.0"

n_requests=1500
start "$work/reported" --report "$work/report" "$work/net/roomy.sol"
ok "a stream runs" await has_outputs "$work/reported"
kill -TERM "$pid_1"
status=0
wait "$pid_0" || status=$?
is "it outlives a rank that is ended by a signal" "$status" 0
is "and has all outputs" "$(find "$work/reported" -name output0.npy | wc -l)" \
    1500
ok "the report has the cause" grep -q '^loss  .*rank 1 .*SIGTERM' "$work/report"
ok "and the times" grep -q \
    '^recovery    from request .* joined after .* next output ' "$work/report"
comment <"$work/report"

complains "batches" 1 'leave --batch out' "$exec" -q --on-loss replan \
    --requests 4 --batch 2 "$work/net/roomy.sol"
complains "the option is for streams" 2 'on-loss goes with --requests' \
    "$exec" --on-loss replan "$work/net/roomy.sol"
done_testing
