#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers
# Tests of --for: settings of runtimes, comparisons, calibration, errors.
. "${top_srcdir:=.}/tests/support/tap.sh"

unset MOIRAI_CLUSTER MOIRAI_PATH
top_srcdir=$(cd "$top_srcdir" && pwd -P)
python=${MOIRAI_PYTHON:-python3}
cd "$work" || exit 99
PYTHONPATH=$top_srcdir/tests/oracles "$python" -B - <<'EOF' ||
import gguf_write as w


def decoder(name, layers, hidden, inner, experts=0, tied=False):
    f = w.File("qwen3moe" if experts else "llama")
    f.set(block_count=layers, context_length=8192, embedding_length=hidden,
          feed_forward_length=inner, attention__head_count=16,
          attention__head_count_kv=4, attention__key_length=64,
          attention__value_length=64)
    if experts:
        f.set(expert_count=experts, expert_used_count=4,
              expert_feed_forward_length=inner)
    f.add("token_embd.weight", 32000, hidden)
    f.vector("output_norm.weight", hidden)
    if not tied:
        f.add("output.weight", 32000, hidden)
    for i in range(layers):
        p = f"blk.{i}."
        f.vector(p + "attn_norm.weight", hidden)
        for part, rows in (("q", 1024), ("k", 256), ("v", 256)):
            f.add(f"{p}attn_{part}.weight", rows, hidden)
        f.add(p + "attn_output.weight", hidden, 1024)
        f.vector(p + "ffn_norm.weight", hidden)
        if experts:
            f.add(p + "ffn_gate_inp.weight", experts, hidden, kind="F32")
        for part in "gate", "up", "down":
            shape = (hidden, inner) if part == "down" else (inner, hidden)
            if experts:
                f.add(f"{p}ffn_{part}_exps.weight", experts, *shape)
            else:
                f.add(f"{p}ffn_{part}.weight", *shape)
    open(name, "wb").write(f.bytes())


decoder("dense.gguf", 24, 2048, 5632)
decoder("tied.gguf", 12, 1024, 2816, tied=True)
decoder("moe.gguf", 16, 2048, 1024, experts=32)
EOF
    skip_all "no Python writes models"

cat >two.cluster.xml <<'EOF'
<cluster>
  <device id="cpu" model="ddr5-2ch" memory_gib="16"/>
  <device id="A" model="rtx3060" memory_bytes="400000000"/>
  <device id="B" model="rtx4090" memory_bytes="600000000"/>
  <link between="cpu A" kind="pcie4-x4"/>
  <link between="cpu B" kind="pcie4-x16"/>
  <link between="A B" kind="pcie4-x4"/>
</cluster>
EOF

# Expression: prints what Python makes of the report r of --json.
report()
{
    "$python" -c 'import json, sys
r = json.load(open("out"))
print(eval("(" + sys.argv[1] + ")"))' "$1"
}

exits "llama.cpp" 0 moirai -q --json --for llama.cpp -c two.cluster.xml \
    --drop-device all --add-device rtx3090 --add-device rtx3090:0.4 dense.gguf
is "the gap is 0" "$(report 'r["gap"]')" 0
is "no device holds more than it has" \
    "$(report 'all(d["memory_bytes"] <= d["capacity_bytes"]
        for d in r["devices"])')" True
is "each layer is on one device" \
    "$(report 'sorted(sum((d["layers"] for d in r["devices"]), []))
        == list(range(24))')" True
is "no other split is faster" \
    "$(report 'all(c.get("answer_us", 1e99) >= r["answer_us"]
        for c in r["compared"] if "more" not in c["name"])')" True
is "another device does no harm, and is used where it helps" \
    "$(report 'all(c["answer_us"] <= r["answer_us"] * (1 + 1e-9)
        for c in r["compared"] if "more" in c["name"])')" True
is "rows" "$(report '[c["name"] for c in r["compared"]]')" \
    "['llama.cpp: split by free memory', 'cpu alone', 'A alone', 'B alone', \
'without cpu', 'without A', 'without B', 'with one more rtx3090', \
'with one more rtx3090:0.4']"
# -ts has the layers of the devices in their order, the head at the end.
is "-ngl and -ts are those of the report" "$(report '(lambda words, by: [
    int(words[words.index("-ngl") + 1]),
    words[words.index("-ts") + 1]] == [
    sum(n for _, n in by), ",".join(str(n) for _, n in by)])(
        r["settings"].split(), sorted(
            (min(d["layers"] or [99]), len(d["layers"]) + d["head"])
            for d in r["devices"] if d["id"] != "cpu" and
            (d["layers"] or d["head"])))')" True
exits "moirai-place does the same" 0 moirai-place -q --json --for llama.cpp \
    -c two.cluster.xml dense.gguf -o run.sh
ok "-o writes the command line" grep -q '^llama-server -m dense.gguf -c 4096' \
    run.sh
cp run.sh first.sh
moirai -q --for llama.cpp -c two.cluster.xml dense.gguf -o run.sh >/dev/null
ok "it is the same again" cmp -s run.sh first.sh

exits "a device that is of no use" 0 moirai -q --json --for llama.cpp \
    -c two.cluster.xml --add-device p4:0.4 --prompt 512 --generate 1 dense.gguf
is "is left out" "$(report '[(c["name"][-8:], c["answer_us"] == r["answer_us"])
    for c in r["compared"] if "more" in c["name"]]')" "[('not used', True)]"

cat >pair.cluster.xml <<'EOF'
<cluster>
  <device id="cpu" model="ddr5-2ch" memory_gib="16"/>
  <device id="B" model="rtx4090" memory_bytes="900000000"/>
  <link between="cpu B" kind="pcie5-x16"/>
</cluster>
EOF
exits "experts in main memory" 0 moirai -q --json --for llama.cpp \
    -c pair.cluster.xml moe.gguf --value cache=q8_0,prompt=7000 \
    --value context=8192
ok "-ot names them" grep -q "exps=CPU'" out
ok "a quantized cache needs -fa" grep -q -e '-ctk q8_0 -ctv q8_0 -fa on' out
sed 's/900000000/700000000/' pair.cluster.xml >part.cluster.xml
exits "a part of the experts of a layer" 0 moirai -q --json --for llama.cpp \
    -c part.cluster.xml moe.gguf --prompt 7000 --context 8192
ok "stays on the GPU" grep -Eq "'blk.{6,8}ffn_\((gate.)?down\)_exps=CPU,blk" out
is "in memory that it has" "$(report '[d["memory_bytes"] <= d["capacity_bytes"]
    for d in r["devices"]]')" "[True, True]"
sed 's/memory_bytes="9/reserve_bytes="0" &/' pair.cluster.xml >all.cluster.xml
is "a reserve of 0 leaves more" "$(for c in pair all; do
    moirai -q --json --for llama.cpp -c $c.cluster.xml dense.gguf >out
    report 'r["devices"][1]["capacity_bytes"] > 800000000'
done)" "False
True"
exits "a tied head" 0 moirai -q --json --for llama.cpp -c two.cluster.xml \
    tied.gguf
is "is apart from the embedding" \
    "$(report '[d["embedding"] for d in r["devices"]]')" "[True, False, False]"

cat >rpc.cluster.xml <<'EOF'
<cluster>
  <device id="cpu" model="ddr5-2ch" memory_bytes="300000000"/>
  <device id="P" model="rtx3060" memory_bytes="400000000" host="10.0.0.2"/>
  <device id="Q" model="m2" memory_bytes="500000000" host="10.0.0.3:6000"/>
  <link between="cpu P" kind="ethernet-10g"/>
  <link between="cpu Q" kind="ethernet-10g"/>
</cluster>
EOF
exits "other machines" 0 moirai -q --for llama.cpp -c rpc.cluster.xml \
    dense.gguf
ok "run ggml-rpc-server" grep -qxF -- \
    '# on 10.0.0.2: ggml-rpc-server -H 0.0.0.0 -p 50052 -d CUDA0' out
ok "on the port of the cluster" grep -qxF -- \
    '# on 10.0.0.3:6000: ggml-rpc-server -H 0.0.0.0 -p 6000 -d MTL0' out
ok "--rpc names them" grep -q -e '--rpc 10.0.0.2:50052,10.0.0.3:6000' out

"$python" -B "$top_srcdir/tests/oracles/hf_write.py" . >folders
folder=$(awk 'NR == 1 { print $1 }' folders)
for runtime in vllm accelerate pytorch-pipelining; do
    exits "$runtime" 0 moirai -q --json --for $runtime -c inter-server \
        "$folder"
    is "$runtime: the gap" "$(report 'r["gap"]')" 0
done
exits "vllm splits" 0 moirai -q --json --for vllm -c inter-server "$folder"
# The parser of vLLM: as many numbers as stages, the layers in all.
is "VLLM_PP_LAYER_PARTITION adds up" "$(report '(lambda s: sum(map(int,
    s.split("PARTITION=")[1].split()[0].split(","))) == 4 and
    len(s.split("PARTITION=")[1].split()[0].split(",")) ==
    int(s.split("parallel-size ")[1].split()[0]))(r["settings"])')" True
moirai -q --for accelerate -c inter-server "$folder" -o map.json >/dev/null
is "device_map" "$("$python" -c 'import json
m = json.load(open("map.json"))
print(sorted(m)[:2], len(m), set(map(type, m.values())) == {int})')" \
    "['lm_head', 'model.embed_tokens'] 7 True"

cp "$top_srcdir/examples/inception.graphml" \
    "$top_srcdir/examples/inception.cluster.xml" .
moirai-place -q --for openvino inception.graphml -o place.json >/dev/null
moirai -q --for openvino inception.graphml -o moirai.json >/dev/null
is "openvino: every op has a device" "$("$python" -c 'import json
a, b = json.load(open("place.json")), json.load(open("moirai.json"))
print(len(a) > 0, a.keys() == b.keys(), all(v[:3] in ("CPU", "GPU")
      for v in a.values()))')" "True True True"

# Calibration: what was fitted is predicted.
cat >bench.json <<'EOF'
[{ "model_filename": "dense.gguf", "model_size": 600000000, "type_k": "f16",
   "model_n_params": 1100000000, "gpu_info": "NVIDIA GeForce RTX 4090",
   "n_gpu_layers": -1, "n_prompt": 512, "n_gen": 0, "avg_ns": 60000000 },
 { "model_filename": "dense.gguf", "model_size": 600000000, "type_k": "f16",
   "model_n_params": 1100000000, "gpu_info": "NVIDIA GeForce RTX 4090",
   "n_gpu_layers": 99, "n_prompt": 0, "n_gen": 128, "avg_ns": 512000000 },
 { "model_filename": "tied.gguf", "model_size": 100000000, "type_k": "f16",
   "model_n_params": 200000000, "gpu_info": "NVIDIA GeForce RTX 4090",
   "n_gpu_layers": 99, "n_prompt": 0, "n_gen": 128, "avg_ns": 192000000 }]
EOF
exits "moirai-profile llama" 0 moirai-profile llama -q -o rates.xml bench.json
ok "tests of tokens are met" awk '/^tg/ && $(NF - 1) !~ /^[+-]0[.]0$/ { bad = 1 }
    /^tg/ { n++ } END { exit bad || n != 2 }' out
ok "writes rates" grep -q '<rate device="NVIDIA GeForce RTX 4090"' rates.xml
exits "and so are predictions" 0 moirai -q --json --for llama.cpp \
    -c two.cluster.xml -p rates.xml --value prompt=1 --value generate=127 \
    dense.gguf
is "not all devices have rates" "$(report 'r["calibrated"]')" False
cat >one.cluster.xml <<'EOF'
<cluster><device id="B" model="rtx4090"/></cluster>
EOF
exits "one device" 0 moirai -q --json --for llama.cpp -c one.cluster.xml \
    -p rates.xml --value prompt=1 --value generate=127 dense.gguf
is "is calibrated" "$(report 'r["calibrated"]')" True
is "and takes what was measured" \
    "$(report 'abs(r["token_us"] / 4000 - 1) < 0.01')" True

is "openvino: settings come before the report" \
    "$(moirai-place -q --for openvino inception.graphml >shown; "$python" -c '
import json
text = open("shown").read()
first, end = json.JSONDecoder().raw_decode(text)
print(first == json.load(open("place.json")), len(text[end:].split()) > 3)')" \
    "True True"
is "moirai: settings come before the report" \
    "$(moirai -q --for openvino inception.graphml >shown; "$python" -c '
import json
text = open("shown").read()
first, end = json.JSONDecoder().raw_decode(text)
print(first.keys() == json.load(open("moirai.json")).keys(),
      "bound" in text[end:], "keeps the solution" in text)')" "True True False"

is "openvino: settings are in the report, too" \
    "$(moirai-place -q --json --for openvino inception.graphml >place.out
    moirai -q --json --for openvino inception.graphml >moirai.out
    "$python" -c '
import json
place, moirai = json.load(open("place.out")), json.load(open("moirai.out"))
print(place[0]["settings"] == json.load(open("place.json")),
      ["settings" in row for row in place[1:]].count(True),
      moirai["settings"].keys() == place[0]["settings"].keys())')" "True 0 True"
is "unless they have a file" \
    "$(moirai -q --json --for openvino inception.graphml -o again.json |
        grep -c '"settings"')" 0

# Devices that settings cannot tell apart.
for hosts in h1-h2 h1-h1; do
    cat >"$hosts.xml" <<EOF
<cluster>
  <device id="A" model="rtx3060" gpu="1" host="${hosts%-*}"/>
  <device id="B" model="rtx4090" gpu="1" host="${hosts#*-}"/>
  <link between="A B" kind="pcie4-x4"/>
</cluster>
EOF
done
for runtime in vllm accelerate pytorch-pipelining; do
    complains "$runtime: two machines" 2 "'A' and 'B' have different hosts" \
        moirai -q --for $runtime -c h1-h2.xml "$folder"
    complains "$runtime: one number" 1 "'A' and 'B' are both GPU 1" \
        moirai-place -q --for $runtime -c h1-h1.xml "$folder"
done
complains "openvino: two machines" 2 "'A' and 'B' have different hosts" \
    moirai -q --for openvino -c h1-h2.xml inception.graphml
complains "openvino: one number" 1 "'A' and 'B' are both GPU 1" \
    moirai-place -q --for openvino -c h1-h1.xml inception.graphml
complains "llama.cpp: one number" 1 "h1-h1.xml:3: devices 'A' and 'B'" \
    moirai -q --for llama.cpp -c h1-h1.xml dense.gguf
exits "llama.cpp: two machines" 0 \
    moirai -q --for llama.cpp -c h1-h2.xml dense.gguf

exits "vllm: a file of the folder" 0 \
    moirai -q --for vllm -c intra-server "$folder/config.json"
ok "vllm: is served as the folder" grep -q "vllm serve $folder " out
(cd "$folder" && moirai -q --for vllm -c intra-server config.json) >out
ok "vllm: so is one here" grep -q "vllm serve \. " out

exits "moirai-place drops devices, too" 0 moirai-place -q --json \
    --for llama.cpp --drop-device all -c two.cluster.xml dense.gguf
is "and has their rows" "$(report '[c["name"] for c in r["compared"]][-3:]')" \
    "['without cpu', 'without A', 'without B']"
exits "or one of them" 0 moirai-place -q --json \
    --for llama.cpp --drop-device A -c two.cluster.xml dense.gguf
is "and has its row" \
    "$(report '[c["name"] for c in r["compared"] if "out" in c["name"]]')" \
    "['without A']"
complains "moirai-place: no such device" 2 "there is no device 'Z'" \
    moirai-place -q --for llama.cpp --drop-device Z -c two.cluster.xml \
    dense.gguf
complains "moirai-place: no runtime" 2 "needs --for RUNTIME" \
    moirai-place -q --add-device rtx3090 -c two.cluster.xml inception.graphml

cat >few.cluster.xml <<'EOF'
<cluster>
  <device id="cpu" model="ddr5-2ch" memory_gib="16"/>
  <device id="B" model="rtx4090" memory_bytes="900000000"/>
  <device id="C" model="rtx4090" memory_gib="24"/>
  <link between="cpu B" kind="pcie5-x16"/>
  <link between="cpu C" kind="pcie5-x16"/>
  <link between="B C" kind="pcie5-x16"/>
</cluster>
EOF
exits "experts of a device alone" 0 moirai -q --json --for llama.cpp \
    -c few.cluster.xml moe.gguf
is "are named where they are in main memory" \
    "$(report '[c["name"] for c in r["compared"]][1:]')" \
    "['cpu alone', 'B with experts on cpu', 'C alone']"

for option in "--objective period" "--fusion none" "--congestion none" \
    "--memory live" "--tensors once"; do
    for command in moirai moirai-place; do
        # shellcheck disable=SC2086
        complains "$command $option" 2 "has no use for ${option%% *}" \
            $command -q --for llama.cpp $option -c two.cluster.xml dense.gguf
    done
done
complains "a solver" 2 "has no use for --solver" moirai -q --for llama.cpp \
    --solver highs -c two.cluster.xml dense.gguf
for option in "--method moirai" "--work 1" --ablation; do
    # shellcheck disable=SC2086
    complains "moirai-place $option" 2 "has no use for ${option%% *}" \
        moirai-place -q --for llama.cpp $option -c two.cluster.xml dense.gguf
done

complains "another format" 1 "--for vllm takes a folder of transformers" \
    moirai -q --for vllm -c inter-server dense.gguf
complains "a graph" 1 "--for llama.cpp takes a GGUF file" \
    moirai -q --for llama.cpp -c inter-server inception.graphml
complains "a GGUF file is run as an answer" 1 "give --generate TOKENS" \
    moirai-exec dense.gguf
complains "all that is computed must be there" 1 "has no key 'llama." \
    moirai-exec --generate 4 dense.gguf
complains "nor are folders of transformers" 1 \
    "moirai --for vllm prints, or export the model" moirai-exec "$folder"
complains "standard input" 2 "needs the name of a file" \
    moirai-place -q --for llama.cpp -c two.cluster.xml -
mkfifo pipe
complains "a pipe" 2 "needs the name of a file" \
    moirai -q --for llama.cpp -c two.cluster.xml pipe
complains "an unknown runtime" 2 "there are llama.cpp, vllm" \
    moirai -q --for nobody dense.gguf
complains "an unknown model" 2 "there is no model 'rtx1'" \
    moirai -q --for llama.cpp -c two.cluster.xml --add-device rtx1 dense.gguf
complains "no memory" 2 "is no number of GiB" moirai -q --for llama.cpp \
    -c two.cluster.xml --add-device rtx3090:x dense.gguf
complains "no runtime" 2 "need --for RUNTIME" moirai -q --drop-device A dense.gguf
complains "lengths" 2 "do not fit a context of 100" moirai -q \
    --for llama.cpp -c two.cluster.xml --value context=100 dense.gguf
complains "another value" 2 "there are prompt, generate" moirai -q \
    --for llama.cpp -c two.cluster.xml --value prompt=9,rate=1 dense.gguf
complains "another type of the cache" 2 "is no type of a cache" moirai -q \
    --for llama.cpp -c two.cluster.xml --value cache=q9 dense.gguf
exits "too large" 3 moirai -q --for llama.cpp -c two.cluster.xml \
    --value context=9000000 --add-device rtx3090:9000 -o none.sh dense.gguf
is "is one line" "$(grep -c 'no split fits' "$work/err")" 1
is "settings are not written" "$(test -e none.sh || echo none)" none
is "the report says so in each row" \
    "$(grep -cE '^(these settings|A alone|B alone|cpu alone) .* fit' \
        "$work/out")" 4
ok "and that another device helps" \
    grep -q '^with one more rtx3090:9000 .* ms  *-$' "$work/out"
exits "too large, as JSON" 3 moirai-place -q --json --for llama.cpp \
    -c two.cluster.xml --value context=9000000 dense.gguf
is "has the reason and the rows" "$(report '(r["status"], "settings" in r,
    "no split fits" in r["why"], ["why" in c for c in r["compared"]])')" \
    "('infeasible', False, True, [True, True, True, True])"
complains "a context that vllm refuses" 2 "is more than the 8192 tokens of the model, which vllm" \
    moirai -q --for vllm --context 9000000 -c inter-server "$folder"
complains "no results" 1 "is no result of llama-bench" \
    moirai-profile llama two.cluster.xml
sed 's/"avg_ns": 192000000/"avg_ns": -1/' bench.json >bad.json
complains "a bad test has a line" 1 "bad.json:7: is no result of llama-bench" \
    moirai-profile llama bad.json
sed 's/"avg_ns": 60000000/"avg_ns": 600/' bench.json >short.json
complains "a test too short has its line and the model" 1 \
    "weights of 'dense.gguf'; name the model" \
    moirai-profile llama -q short.json
ok "which is that of a test" grep -q "^moirai-profile: short.json:1: " "$work/err"
complains "JSON is not for llama" 2 "is for moirai-profile fit" \
    moirai-profile llama --json bench.json
complains "a device that the cluster does not have" 2 \
    "--device: the cluster has no device 'Q'" \
    moirai-profile llama --device Q -c two.cluster.xml bench.json
complains "a cluster without a device" 2 "give both" \
    moirai-profile llama -c two.cluster.xml bench.json
exits "one that it has" 0 \
    moirai-profile llama --device B -c two.cluster.xml bench.json
ok "is no warning" sh -c '! grep -q "no known device" "$1"' - "$work/err"
exits "without a cluster" 0 moirai-profile llama --device Q bench.json
ok "there is a warning" grep -q "'Q' is no known device model" "$work/err"
moirai-profile llama -q --device Q -o rates.xml bench.json >out 2>err
is "rates of other devices are kept" "$(grep -o 'device="[^"]*"' rates.xml |
    tr '\n' ' ')" 'device="NVIDIA GeForce RTX 4090" device="Q" '
echo '[]' >empty.json
complains "empty results" 1 "has no tests" moirai-profile llama empty.json
done_testing
