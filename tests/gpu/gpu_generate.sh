#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# gpu_generate.sh - small decoders as GGUF files generate on a GPU the tokens that
# they have by definition: alone, in half precision, and with their ops on
# partitions of the GPU, or on the GPU and the CPU.
group=generate
. "${top_srcdir:=.}/tests/gpu/gpu_jobs.sh"

python=${MOIRAI_PYTHON:-python3}
measure=
decoders='llama-f32 llama-q4_0 qwen2-f16 qwen3-q8_0 gemma3-bf16 phi3-f16'
# Contexts with parts of a GPU are large.
gpu_jobs=4
if [ -z "${MOIRAI_TEST_GPU:-}" ]; then
    measure=--no-measure
    decoders=qwen3-q8_0
fi
"$python" -B "$top_srcdir/tests/cli/gguf_case.py" "$dir" >"$dir/case.txt" 2>&1 ||
    skip_group "decoders cannot be written: $(tail -n 1 "$dir/case.txt")"
steps=$(wc -l <"$dir/llama-f32.ids" | tr -d ' ')

# cluster DEVICES: all linked, one letter each: g for a GPU, c for CPU threads.
cluster()
{
    echo '<cluster>'
    k=0
    for kind in $(echo "$1" | sed 's/./& /g'); do
        k=$((k + 1))
        case $kind in
        g) echo "<device id='D$k' model='h200'/>" ;;
        c) echo "<device id='D$k' kind='cpu' threads='2' gflops='100'
            memory_bandwidth_gbs='20'/>" ;;
        esac
        for l in $(seq $((k - 1))); do
            echo "<link between='D$l D$k' gbps='100' latency_us='5'/>"
        done
    done
    echo '</cluster>'
}

# generated NAME DECODER OPTION...: adds a job that compares the tokens.
generated()
{
    generated_name=$1 decoder=$2
    shift 2
    # shellcheck disable=SC2016 # for another shell
    job "$generated_name" sh -ec '
        dir=$1 name=$2 decoder=$3 steps=$4
        shift 4
        moirai-exec -q --prompt "$dir/ids.npy" --generate "$steps" "$@" \
            --report "$dir/$name.txt" >"$dir/$name.out"
        cmp "$dir/$name.out" "$dir/$decoder.ids"' \
        sh "$dir" "$generated_name" "$decoder" "$steps" "$@"
}

# Ops of all layers anywhere: each op has a device by its name; gates are where
# the op before them is.
split()
{
    moirai-place -q -c "$dir/ggg.xml" --rounds 1 --method single \
        --context 40 --prompt 9 --generate "$steps" -o "$dir/$1.sol" \
        "$dir/$1.gguf" >"$dir/$1.place.txt" 2>&1 &&
        moirai-check --json "$dir/$1.sol" >"$dir/$1.json" &&
        "$python" - "$dir/$1.json" >"$dir/$1.split.json" <<'END'
import json
import sys
import zlib

place = json.load(open(sys.argv[1]))["placement"]
names = {op: op.split("@")[0].split(">")[0] or "token_embd" for op in place}
names = {op: "token_embd" if name == "output" else name
         for op, name in names.items()}  # which may be one tensor
json.dump({op: f"D{zlib.crc32(name.encode()) % 3 + 1}"
           for op, name in names.items()}, sys.stdout)
END
}

for devices in ggg gcg; do
    cluster $devices >"$dir/$devices.xml"
done
for decoder in $decoders; do
    for precision in f32 f16; do
        # shellcheck disable=SC2086 # a word, or none
        generated "$decoder-$precision" "$decoder" --backend cuda $measure \
            --precision $precision "$dir/$decoder.gguf"
    done
    split "$decoder" || job "$decoder-split" false
    set -- --graph "$dir/$decoder.gguf" --no-fuse --value \
        "context=40,prompt=9,generate=$steps" "$dir/$decoder.split.json"
    # shellcheck disable=SC2086 # a word, or none
    generated "$decoder-mixed" "$decoder" $measure -c "$dir/gcg.xml" "$@"
    # shellcheck disable=SC2086
    [ -z "${MOIRAI_TEST_GPU:-}" ] || generated "$decoder-parts" "$decoder" \
        --emulate 64,32,16 -c "$dir/ggg.xml" "$@"
done
run_jobs
conclude "$(echo "$decoders" | wc -w) decoders, \
$(find "$dir" -name '*.job' | wc -l) runs"
