#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests of moirai-exec --generate on GGUF files: small decoders of all
# architectures and types that run generate the tokens that they have by
# definition, wherever their ops are placed.
. "${top_srcdir:=.}/tests/support/tap.sh"
# shellcheck source=tests/ranks/ranks.sh
. "$top_srcdir/tests/ranks/ranks.sh"

unset MOIRAI_CLUSTER MOIRAI_PATH
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
python=${MOIRAI_PYTHON:-python3}
source=$(cd "$top_srcdir" && pwd -P)
build=$(cd "$top_builddir" && pwd -P)
ok "decoders are written" "$python" "$top_srcdir/tests/cli/gguf_case.py" "$work"
cd "$work" || exit 1
steps=$(wc -l <llama-f32.ids | tr -d ' ')

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

cat >one.xml <<'END'
<cluster name="one">
  <device id="a" kind="cpu" threads="1" gflops="90"
          memory_bandwidth_gbs="20"/>
</cluster>
END

# place MODEL SOLUTION OPTION...: of this prompt and answer, on one device.
place()
{
    model=$1 solution=$2
    shift 2
    moirai-place -q -c one.xml --rounds 1 --context 40 --prompt 9 \
        --generate "$steps" --method single "$@" -o "$solution" "$model" \
        >place.log 2>&1
}

generate()
{
    moirai-exec -q --threads 1 --prompt ids.npy --generate "$@"
}

for name in llama-f32 llama-q4_0 qwen2-f16 qwen3-q8_0 gemma3-bf16 phi3-f16 \
    qwen3moe-f32 llama-q8_0 gpt-oss-bf16 deepseek2-f16; do
    cache=f16
    [ $name != qwen2-f16 ] || cache=f32
    ok "$name: placed" place $name.gguf $name.sol --cache-type $cache
    exits "$name: tokens are generated" 0 generate "$steps" $name.sol
    ok "$name: as defined" cmp out $name.ids
done

exits "experts in half precision" 0 generate "$steps" --precision f16 \
    qwen3moe-f32.sol
ok "experts in half precision: the same" cmp out qwen3moe-f32.ids

# A prompt of 9 in runs of 4.
ok "shorter runs: placed" place gemma3-bf16.gguf short.sol --prompt 4
exits "shorter runs: tokens are generated" 0 generate "$steps" short.sol
ok "shorter runs: the same" cmp out gemma3-bf16.ids

# A prompt of 9 that does not fill a run of 16, or its last one of 7.
for length in 16 7; do
    ok "runs of $length: placed" place llama-f32.gguf short.sol --prompt $length
    exits "runs of $length: tokens are generated" 0 generate "$steps" short.sol
    ok "runs of $length: the same" cmp out llama-f32.ids
done

# Ops of all layers anywhere: as weights differ, each op has a device by its
# name; gates are where the op before them is.
moirai-check --json qwen3-q8_0.sol >one.json
cat >split.py <<'END'
import json, zlib
place = json.load(open("one.json"))["placement"]
def device(op):
    name = op.split("@")[0].split(">")[0] or "token_embd"
    return "abc"[zlib.crc32(name.encode()) % 3]
json.dump({op: device(op) for op in place}, open("split.json", "w"))
END
"$python" split.py
set -- -c three.xml --graph qwen3-q8_0.gguf --prompt ids.npy \
    --value "context=40,prompt=9,generate=$steps" --generate "$steps" split.json
exits "ops on three devices" 0 moirai-exec -q --no-fuse "$@"
ok "the same tokens" cmp out qwen3-q8_0.ids
next_port
for rank in 1 0; do
    timeout 60 moirai-exec -q --transport tcp --ranks 2 --rank $rank \
        --master "127.0.0.1:$port" "$@" >"rank.$rank" 2>&1 &
done
wait
ok "so do two ranks" cmp rank.0 qwen3-q8_0.ids

# The report has the memory of the placement: weights as in the file, and keys
# and values of 40 tokens in f16.
exits "the report" 0 generate 3 --json qwen3-q8_0.sol
cat >facts.py <<'END'
import json
said = json.load(open("out"))
device, = (d for d in said["by_device"] if d["weight_bytes"] > 0)
assert device["state_bytes"] == 2 * 2 * 40 * 2 * 32 * 2, device
assert said["capacity"] == 40 and said["prompt"] == 9
END
ok "states are in f16" "$python" facts.py

ok "shards: placed" place shards-00001-of-00002.gguf shards.sol
exits "shards: tokens are generated" 0 generate "$steps" shards.sol
ok "shards: the same" cmp out llama-q4_0.ids

# A stand-in for a GPU: weights and caches in their own types, or all in f16.
standin=$build/tests/standin/standin_cuda.so
if in_ci && [ -e "$standin" ]; then
    for run in llama-q4_0:f16 qwen3-q8_0:f32; do
        name=${run%:*} precision=${run#*:}
        exits "$name in $precision on a GPU" 0 env MOIRAI_CUDA="$standin" \
            MOIRAI_NVRTC="$standin" MOIRAI_CUBLASLT='' MOIRAI_CUDNN='' \
            MOIRAI_CACHE="$work/kernels" moirai-exec -q --backend cuda \
            --precision "$precision" --prompt ids.npy --generate 4 "$name.gguf"
        ok "$name in $precision: the same" sh -c "
            head -n 4 $name.ids | cmp - out"
    done
fi

# Without a placement, behind a link as in caches of downloads, and by the
# library, which trees with sanitizers do not have.
mkdir cache
mv llama-q4_0.gguf cache/blob
ln -s cache/blob llama-q4_0.gguf
exits "a file on one device" 0 generate "$steps" llama-q4_0.gguf
ok "the same tokens" cmp out llama-q4_0.ids
MOIRAI_LIBRARY=$build/src/lib/libmoirai.so.1.0.0
PYTHONPATH=$source/contrib/python
export MOIRAI_LIBRARY PYTHONPATH
cat >library.py <<'END'
from array import array
import moirai
ids = array("q", open("ids.npy", "rb").read()[128:]).tolist()
wanted = [int(line) for line in open("llama-q4_0.ids")]
placement = moirai.open("shards.sol")
assert list(placement.generate(ids, len(wanted), threads=1)) == wanted
END
[ ! -e "$MOIRAI_LIBRARY" ] ||
    ok "the library generates them, too" "$python" library.py

# A file of the same tensors is found by its digest, but may have other weights.
mkdir moved
place qwen2-f16.gguf moved/own.sol
mv qwen2-f16.gguf moved/tuned.gguf
complains "another file" 1 "name it with --graph" generate 3 moved/own.sol
exits "which is named" 0 generate 3 --graph moved/tuned.gguf moved/own.sol

# What is not run is refused in one line.
complains "one token too many" 1 "give --generate 32 at most" generate 33 \
    qwen3-q8_0.sol
complains "without --generate" 1 "place it with --prompt and --generate" \
    moirai-exec -q qwen3-q8_0.sol
moirai-place -q -c three.xml --method single -o token.sol qwen3-q8_0.gguf \
    >place.log 2>&1
complains "a token alone" 1 "place it with --prompt and --generate" \
    generate 3 token.sol
place qwen3-q8_0.gguf quantized.sol --cache-type q8_0
complains "a quantized cache" 1 "a cache of type q8_0 cannot be run" \
    generate 3 quantized.sol


# refuses MODEL TEXT
refuses()
{
    place "$1.gguf" refused.sol
    complains "$1" 1 "$2" generate 3 refused.sol
}

refuses olmo2 "architecture 'olmo2', which can be placed but not run"
refuses scaling "scales rotary positions by 'su'"
refuses cap "'qwen3.final_logit_softcapping' has a value that cannot be run"
refuses tensor "'blk.1.ffn_sub_norm.weight' is not run"
refuses q5_0 "'output.weight' is of type q5_0, which cannot be run"
refuses base "'qwen3.rope.freq_base' is no number"
refuses nan "'qwen3.rope.freq_base' is no number"
refuses rotated "'qwen3.rope.dimension_count' is no number"
refuses width "has not the columns that key 'qwen3.embedding_length' says"
refuses lone "layer 1 has no tensor 'attn_q_norm.weight'"
refuses short "has not the 32 elements"
refuses norms "is of type f16, and not of f32"
done_testing
