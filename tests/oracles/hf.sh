#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Folders of transformers: bytes, layers, experts and caches equal those of the
# writer; shards; an unknown architecture; hostile folders.
. "${top_srcdir:=.}/tests/support/tap.sh"

python=${MOIRAI_PYTHON:-python3}
cd "$work" || exit 1
"$python" "$top_srcdir/tests/oracles/hf_write.py" . >list ||
    bail "the folders are not written"

while read -r name layers bytes experts token unknown; do
    moirai-info --json "$name" >report
    is "$name" "$(tr -d ' ,"' <report | grep -E \
        '^(weight_bytes|unknown_tensors|layers|experts|cache_bytes_per_token):')" \
        "weight_bytes:$bytes
unknown_tensors:$unknown
layers:$layers
experts:$experts
cache_bytes_per_token:$token"
done <list
is "the folder stands for its file" \
    "$(moirai-info --json phi3 | grep '"digest"')" \
    "$(moirai-info --json phi3/config.json | grep '"digest"')"
ok "ops have the names of modules" sh -c \
    'moirai-coarsen --fusion none -q -o - llama |
        grep -q "id=\"model.layers.3.mlp.down_proj\""'
ok "an unknown architecture is reported" \
    sh -c 'moirai-info novel | grep -q "4 tensors are not understood"'
(cd llama && moirai-place -q -c inter-server --rounds 1 -o a.sol config.json &&
    moirai-check -q a.sol) >log 2>&1 && pass "placed and checked" ||
    fail "placed and checked"

# hostile folders

rm gptq/model-00002-of-*.safetensors
complains "a missing shard" 1 "model-00002-of-" moirai-info gptq
sed 's/model-00001/..\/model-00001/' novel/model.safetensors.index.json >index
cp index novel/model.safetensors.index.json
complains "a shard elsewhere" 1 "is no file of the folder" moirai-info novel
printf '\377\377\377\377\377\377\377\177{}' >llama/model.safetensors
complains "a header without end" 1 "is no safetensors file" moirai-info llama
printf '\100\0\0\0\0\0\0\0{}' >llama/model.safetensors
complains "a short header" 1 "the file is incomplete" moirai-info llama
rm llama/model.safetensors
complains "no weights" 1 "llama/model.safetensors" moirai-info llama
mkdir empty
complains "an empty folder" 1 "is a directory" moirai-info empty
done_testing
