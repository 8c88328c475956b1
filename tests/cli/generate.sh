#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests of moirai-exec --generate: the tokens of a small decoder, whose keys,
# values and sums are states, are those that it has by definition.
. "${top_srcdir:=.}/tests/support/tap.sh"
# shellcheck source=tests/ranks/ranks.sh
. "$top_srcdir/tests/ranks/ranks.sh"

unset MOIRAI_CLUSTER MOIRAI_PATH
top_builddir=$(cd "$top_builddir" && pwd -P)
MOIRAI_CUDA=
PYTHONPATH=$(cd "$top_srcdir" && pwd)/contrib/export
PYTHONDONTWRITEBYTECODE=1
export MOIRAI_CUDA PYTHONPATH PYTHONDONTWRITEBYTECODE
python=${MOIRAI_PYTHON:-python3}
ok "a decoder is written" "$python" "$top_srcdir/tests/cli/generate_case.py" \
    "$work"
cd "$work" || exit 1
steps=$(wc -l <wanted | tr -d ' ')

# Prints whether the first tokens of a file are as wanted.
agree()
{
    head -n "$(wc -l <"$1")" wanted | cmp - "$1"
}

generate()
{
    moirai-exec --threads 1 --prompt ids.npy --generate "$@"
}

# One device.
exits "tokens are generated" 0 generate "$steps" chat.xml
ok "as defined" cmp out wanted
ok "the report is on standard error" grep -q '^a token  *p50 ' err
exits "again" 0 generate "$steps" -q chat.xml
ok "they are the same" cmp out wanted
ok "and there is no report" test ! -s err
exits "one token" 0 generate 1 -q chat.xml
ok "is the first" agree out
exits "all that the states hold" 0 generate "$steps" -q --json chat.xml
cat >facts.py <<'END'
import json
said, wanted = json.load(open("out")), open("wanted").read().split("\n")[:-1]
assert [" ".join(map(str, ids)) for ids in zip(*said["ids"])] == wanted
assert (said["batch"], said["prompt"], said["capacity"]) == (2, 7, 40)
device, = said["by_device"]
# Each layer: keys and values [2,2,40,8], a sum [2,1,16], aligned.
assert device["state_bytes"] == 2 * (2 * 5120 + 256), device
assert said["p50_us"] <= said["p95_us"] <= said["p99_us"]
assert said["first_token_us"] > 0 and said["tokens_per_second"] > 0
END
ok "the report has them" "$python" facts.py
exits "nothing is run" 0 generate 3 --dry-run --save-states none chat.xml
ok "but planned" grep -q '^planned  *3 after a prompt of 7, 2 sequences$' err
ok "and nothing is written" test ! -s out -a ! -e none
complains "one more than the states hold" 1 "give --generate $steps at most" \
    generate $((steps + 1)) chat.xml
exits "without fusion" 0 generate "$steps" -q --no-fuse chat.xml
ok "tokens are the same" cmp out wanted

# Prompts that are longer or shorter than the first phase takes.
for prompt in long short; do
    exits "a $prompt prompt" 0 moirai-exec -q --threads 1 \
        --prompt $prompt.npy --generate 4 chat.xml
    ok "is run in parts" cmp out wanted.$prompt
done

# States that are saved and loaded: the rest follows, and so does what is said
# next.
exits "states are saved" 0 generate 3 -q --save-states kept chat.xml
exits "and loaded" 0 moirai-exec -q --threads 1 --load-states kept \
    --generate 4 --save-states later chat.xml
tail -n +4 wanted | head -n 4 >rest
ok "the rest follows" cmp out rest
cat >ids.py <<'END'
from array import array
wanted = [[int(x) for x in line.split()] for line in open("wanted")]
prompt = array("q", open("ids.npy", "rb").read()[128:])
for name, n in (("kept", 3), ("later", 7)):
    ids = array("q", open(f"{name}/tokens.npy", "rb").read()[128:])
    assert ids.tolist() == [id for b in range(2) for id in
                            [*prompt[7 * b:7 * b + 7],
                             *(step[b] for step in wanted[:n])]], ids
END
ok "all ids are kept" "$python" ids.py
exits "a prompt goes on" 0 generate 3 -q --prompt said.npy --load-states later \
    chat.xml
ok "from there" cmp out wanted.said
complains "a generation is not replaced" 2 "kept/tokens.npy: exists" \
    generate 3 -q --save-states kept chat.xml
complains "what is loaded must fit, too" 1 "a prompt of 17 and 25 more" \
    generate 25 -q --prompt said.npy --load-states later chat.xml
complains "states are somewhere" 1 "none/model.txt: " \
    moirai-exec -q --load-states none --generate 2 chat.xml
cp -r kept short
cp short/tokens.npy "$(find short -name 'state.*' | sort | head -n 1)"
complains "a state has a shape" 1 "is i64[2,10], and the state " \
    moirai-exec -q --load-states short --generate 2 chat.xml
cp -r kept other
echo "weights 0123456789abcdef" >other/model.txt
complains "states are of a model" 1 "other/model.txt:1: the states are of a " \
    moirai-exec -q --load-states other --generate 2 chat.xml
complains "an end is in the vocabulary" 2 "a number from 0 to 36" \
    generate 3 --stop 37 chat.xml
mkdir busy
complains "one process saves into a folder" 1 "is written by another process" \
    flock busy moirai-exec -q --save-states busy --generate 2 chat.xml
if [ -c /dev/full ]; then
    complains "a full standard output" 1 "cannot be written to" sh -c '
        moirai-exec -q --generate 3 --save-states full "$@" chat.xml >/dev/full' \
        sh --threads 1 --prompt ids.npy
    ok "the states are saved" test -s full/tokens.npy
fi
exits "states without tokens" 2 moirai-exec --save-states x chat.xml

# The pipe takes one line: the second one waits while the signal comes.
cat >interrupt.py <<'END'
import fcntl, os, signal, struct, subprocess, sys, termios, time
def waiting(end):
    return struct.unpack("i", fcntl.ioctl(end, termios.FIONREAD, b"1234"))[0]
line = len(open("wanted").readline())
read, write = os.pipe()
fcntl.fcntl(write, fcntl.F_SETPIPE_SZ, 4096)
full = 4096 - line
os.write(write, b"x" * full)
with open("interrupt.err", "w") as err:
    child = subprocess.Popen(sys.argv[1:], stdout=write, stderr=err)
os.close(write)
while waiting(read) == full and child.poll() is None:
    time.sleep(0.01)
child.send_signal(signal.SIGINT)
time.sleep(0.2)
said = b""
while part := os.read(read, 4096):
    said += part
open("interrupt.out", "wb").write(said[full:])
sys.exit(child.wait())
END
exits "SIGINT ends a generation" 130 "$python" interrupt.py moirai-exec \
    --threads 1 --prompt ids.npy --generate "$steps" --save-states stopped \
    chat.xml
ok "behind a token" agree interrupt.out
ok "before the last" test "$(wc -l <interrupt.out)" -lt "$steps"
ok "the report says so" grep -q 'ended by SIGINT' interrupt.err
exits "it can be continued" 0 moirai-exec -q --load-states stopped \
    --generate 2 chat.xml
ok "with the next tokens" sh -c 'cat interrupt.out out >both
    head -n "$(wc -l <both)" wanted | cmp - both'

# A stand-in for a GPU: calls run side by side, and steps are recorded.
standin=$top_builddir/tests/standin/standin_cuda.so
if in_ci && [ -e "$standin" ]; then
    exits "a GPU" 0 env MOIRAI_CUDA="$standin" MOIRAI_NVRTC="$standin" \
        MOIRAI_CUBLASLT='' MOIRAI_CUDNN='' MOIRAI_CACHE="$work/cache" \
        moirai-exec -q --backend cuda --prompt ids.npy --generate 6 chat.xml
    ok "generates the same tokens" agree out
    exits "it takes states of a CPU" 0 env MOIRAI_CUDA="$standin" \
        MOIRAI_NVRTC="$standin" MOIRAI_CUBLASLT='' MOIRAI_CUDNN='' \
        MOIRAI_CACHE="$work/cache" moirai-exec -q --backend cuda \
        --load-states kept --generate 4 --save-states gpu chat.xml
    ok "and goes on" cmp out rest
    exits "and they are saved" 0 moirai-exec -q --load-states gpu --generate 1 \
        chat.xml
    ok "with all tokens" sh -c 'sed -n 8p wanted | cmp - out'
fi

# Three unequal devices; two ranks.
cat >three.xml <<'END'
<cluster name="three">
  <device id="a" rank="0" kind="cpu" threads="1" gflops="90"
          memory_bandwidth_gbs="20"/>
  <device id="b" rank="1" kind="cpu" threads="1" gflops="50"
          memory_bandwidth_gbs="10"/>
  <device id="c" rank="1" kind="cpu" threads="2" gflops="30"
          memory_bandwidth_gbs="10"/>
  <link between="a b" gbps="80" latency_us="1"/>
  <link between="a c" gbps="80" latency_us="1"/>
  <link between="b c" gbps="80" latency_us="1"/>
</cluster>
END
moirai-place -q -c three.xml --rounds 1 --method single -o one.sol chat.xml \
    >place.log 2>&1
moirai-check --json one.sol >one.json
cat >split.py <<'END'
import json
place = json.load(open("one.json"))["placement"]
def device(op):
    return "b" if "layer0" in op or ".0" in op else \
        "c" if "layer1" in op or ".1" in op else "a"
json.dump({op: device(op) for op in place}, open("split.json", "w"))
END
"$python" split.py
ok "layers on devices of their own" moirai-check -q -c three.xml \
    --graph chat.xml split.json
set -- -c three.xml --graph chat.xml --prompt ids.npy --generate "$steps" \
    --json split.json
exits "generate" 0 moirai-exec -q "$@"
ok "the same tokens" "$python" -c 'import json
said, wanted = json.load(open("out")), open("wanted").read().split("\n")[:-1]
assert [" ".join(map(str, ids)) for ids in zip(*said["ids"])] == wanted
assert said["sent_bytes"] > 0 and said["sent_state_bytes"] == 0
assert [d["state_bytes"] > 0 for d in said["by_device"]] == [0, 1, 1]'
next_port
for rank in 1 0; do
    timeout 60 moirai-exec -q --transport tcp --ranks 2 --rank $rank \
        --master "127.0.0.1:$port" "$@" >"rank.$rank" 2>&1 &
done
wait
ok "so do two ranks" "$python" -c 'import json
said, wanted = json.load(open("rank.0")), open("wanted").read().split("\n")[:-1]
assert [" ".join(map(str, ids)) for ids in zip(*said["ids"])] == wanted
assert said["ranks"] == 2'
next_port
for rank in 1 0; do
    timeout 60 moirai-exec -q --transport tcp --ranks 2 --rank $rank \
        --master "127.0.0.1:$port" -c three.xml --graph chat.xml \
        --load-states kept --save-states ranks --generate 4 --json split.json \
        >"rank.$rank" 2>&1 &
done
wait
exits "ranks load states, and save them" 0 moirai-exec -q --threads 1 \
    --load-states ranks --generate 1 chat.xml
ok "with all tokens" sh -c 'sed -n 8p wanted | cmp - out'

# A method that knows no states places readers of a new value elsewhere.
moirai-place -q -c three.xml --method m-topo -o topo.sol chat.xml >out 2>&1
exits "a cache that another device reads" 0 moirai-exec -q --threads 1 \
    --prompt ids.npy --generate 5 --json topo.sol
ok "is sent" "$python" -c 'import json
said, wanted = json.load(open("out")), open("wanted").read().split("\n")[:5]
assert [" ".join(map(str, ids)) for ids in zip(*said["ids"])] == wanted
assert said["sent_state_bytes"] > 0'

# The library, which trees with sanitizers do not have.
MOIRAI_LIBRARY=$top_builddir/src/lib/libmoirai.so.1.0.0
PYTHONPATH=$(dirname "$PYTHONPATH")/python
export MOIRAI_LIBRARY PYTHONPATH
cat >library.py <<'END'
import resource, signal
import moirai
placement = moirai.open("one.sol")
ids = [[(5 * b + 3 * i) % 37 for i in range(7)] for b in range(2)]
wanted = [tuple(map(int, line.split())) for line in open("wanted")]
assert list(placement.generate(ids, len(wanted), threads=1)) == wanted
with placement.generate(ids, 9) as some:
    assert (next(some), next(some), some.batch) == (*wanted[:2], 2)
    some.close()
long = [[(5 * b + 3 * i) % 37 for i in range(17)] for b in range(2)]
assert list(placement.generate(long, 4)) == [
    tuple(map(int, line.split())) for line in open("wanted.long")]
assert list(placement.generate(ids, 3, save_states="here")) == wanted[:3]
more = placement.generate([[], []], 2, load_states="here")
assert list(more) == wanted[3:5]
one = {"temperature": 9, "top_k": 1, "stop": [wanted[0][0], wanted[0][1]]}
assert list(placement.generate(ids, 9, **one)) == wanted[:1]
for ids, n, more in (([1, 2], 3, {}), (ids, 99, {}), (ids, 0, {}),
                     (ids, 3, {"top_k": 3}), ([[37] * 7] * 2, 3, {}),
                     (list(zip(*ids)), 3, {}), (ids[0] + ids[1], 3, {}),
                     ([ids[0], ids[1][1:]], 3, {}), (ids, 2**64 + 3, {}),
                     ([[True] * 7] * 2, 3, {}), ([[1.5] * 7] * 2, 3, {})):
    try:
        placement.generate(ids, n, **more)
        raise AssertionError(n)
    except moirai.MoiraiError:
        pass
# States that cannot be saved: no file may have more than 16 bytes.
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
limits = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (16, limits[1]))
some, text = placement.generate(long, 3, save_states="small"), "saved"
try:
    some.close()
except moirai.MoiraiError as error:
    text = error.file
resource.setrlimit(resource.RLIMIT_FSIZE, limits)
assert "small/" in text, text
some.close()
END
[ ! -e "$MOIRAI_LIBRARY" ] ||
    ok "the library generates the same tokens" "$python" library.py

# Drawn tokens.
exits "a draw from one token" 0 generate "$steps" -q --temperature 2 \
    --top-k 1 chat.xml
ok "is the most probable" cmp out wanted
exits "a draw from a small part" 0 generate "$steps" -q --temperature 2 \
    --top-p 1e-9 chat.xml
ok "is it, too" cmp out wanted
exits "at a high temperature" 0 generate "$steps" -q --temperature 100 \
    --seed 3 chat.xml
mv out drawn
ok "tokens are others" sh -c '! cmp -s drawn wanted'
exits "with the same seed" 0 generate "$steps" -q --temperature 100 --seed 3 \
    chat.xml
ok "they are the same" cmp out drawn
exits "with another one" 0 generate "$steps" -q --temperature 100 --seed 4 \
    chat.xml
ok "they are not" sh -c '! cmp -s out drawn'
stop=$(sed -n '3s/ .*//p' wanted)
other=$(sed -n '5s/.* //p' wanted)
exits "two tokens to stop at" 0 generate "$steps" -q --stop "$stop" \
    --stop "$other" chat.xml
ok "end both sequences" test "$(wc -l <out)" -lt "$steps"
exits "a random prompt" 0 moirai-exec -q --generate 2 chat.xml

# Errors.
complains "a workload is run with --generate" 1 "run it with --generate" \
    moirai-exec -q chat.xml
complains "which is for workloads" 1 "is no workload" \
    moirai-exec -q --generate 3 chat.decode.graphml
ok "a prompt of one sequence" "$python" -c 'import sys
from array import array
data = open("ids.npy", "rb").read()
open("single.npy", "wb").write(
    data[:128].replace(b"(2, 7)", b"(1,14)") + data[128:])'
complains "the prompt has a batch" 1 \
    "single.npy: is i64[1,14]; save the ids of the prompt as integers [2,n]" \
    moirai-exec -q --generate 3 --prompt single.npy chat.xml
complains "the prompt must fit, too" 1 "give --generate 24 at most" \
    moirai-exec -q --generate 25 --prompt long.npy chat.xml
exits "options contradict" 2 generate 3 --check chat.xml
exits "a part of all tokens" 2 generate 3 --top-p 0.5 chat.xml
exits "a prompt alone" 2 moirai-exec --prompt ids.npy chat.xml
exits "no token" 2 generate 3 --stop x chat.xml
complains "a workload is not packed" 2 "does not pack workloads" \
    moirai-exec --bundle chat.tar one.sol
mkdir nan
cp chat.xml chat.*.graphml nan
# Weights, not the integers beside them, which are no normal numbers.
ok "weights become NaN" "$python" -c 'import array
words = array.array("f", open("chat.bin", "rb").read())
words = array.array("f", (float("nan") if abs(x) > 1e-3 else x for x in words))
open("nan/chat.bin", "wb").write(words.tobytes())'
for options in "" "--temperature 1" "--temperature 1 --top-k 3 --top-p 0.5"; do
    # Options are words.
    # shellcheck disable=SC2086
    complains "no logit is a number${options:+, }$options" 1 \
        "no logit is a number" generate 3 $options nan/chat.xml
done
sed 's/chat.decode/other/' chat.xml >other.xml
sed 's/>k\.0</>k.9</' chat.decode.graphml >other.graphml
complains "phases have the same states" 1 "all phases need the same states" \
    generate 3 -q other.xml
done_testing
