#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# GGUF files of a dozen architectures: bytes, caches and layers equal those of
# the writer; shards; every command that takes a graph.
. "${top_srcdir:=.}/tests/support/tap.sh"

python=${MOIRAI_PYTHON:-python3}
cd "$work" || exit 1
"$python" "$top_srcdir/tests/oracles/gguf_write.py" . >list ||
    bail "the headers are not written"

# Prints a number of the report on a graph.
number()
{
    moirai-info --json "$@" 2>&1 | sed -n "s/^  \"$key\": \([0-9]*\),\$/\1/p"
}

while read -r name layers bytes experts token all state; do
    moirai-info --json "$name.gguf" >report
    is "$name: the report" "$(sed -n '/"model"/,/^  }/p' report | tr -d ' ,"' |
        grep -E '^(layers|experts|cache_bytes_per_token|state_bytes):')" \
        "layers:$layers
experts:$experts
cache_bytes_per_token:$all
state_bytes:$state"
    key=weight_bytes
    is "$name: bytes of weights" "$(number "$name.gguf")" "$bytes"
    key=memory_bytes
    short=$(number --value context=5000 "$name.gguf")
    long=$(number --value context=5001 "$name.gguf")
    is "$name: cache of a token" $((long - short)) "$token"
    [ "$state" -eq 0 ] || is "$name: states" \
        $((short - bytes - 5000 * token)) "$state"
    moirai-coarsen --fusion none -q -o graph "$name.gguf"
    is "$name: layers" "$(sed -n 's/.*id="blk\.\([0-9]*\).*/\1/p' graph |
        sort -un | wc -l | tr -d ' ')" "$layers"
    is "$name: has experts" \
        "$(grep -q 'id="blk.[0-9]*.ffn_topk"' graph && echo yes || echo no)" \
        "$([ "$experts" -gt 0 ] && echo yes || echo no)"
    is "$name: bytes by type are all" "$(sed -n '/bytes_by_type/p' report |
        grep -o ': [0-9]*' | awk '{ sum += $2 } END { print sum }')" "$bytes"
done <list

# shards

"$python" - "$top_srcdir" <<'END' || bail "the shards are not written"
import sys
sys.path.insert(0, sys.argv[1] + "/tests/oracles")
import gguf_write as w
f = next(w.models(w.Sizes(1), 3))[1]
third = len(f.tensors) // 3
for i in range(3):
    part = w.File("llama")
    if i == 0:
        part.keys = list(f.keys)
    part.put("split.no", i)
    part.put("split.count", 3)
    open(f"m-{i + 1:05}-of-00003.gguf", "wb").write(part.bytes(
        f.tensors[i * third:(i + 1) * third if i < 2 else None]))
open("whole.gguf", "wb").write(f.bytes())
END
is "shards are one model" \
    "$(moirai-info --json m-00001-of-00003.gguf | grep '"digest"')" \
    "$(moirai-info --json whole.gguf | grep '"digest"')"
complains "another shard alone" 1 "give the first one" \
    moirai-info m-00002-of-00003.gguf
mv m-00003-of-00003.gguf m-00004-of-00003.gguf
complains "a missing shard" 1 "m-00003-of-00003.gguf" \
    moirai-info m-00001-of-00003.gguf
cp m-00002-of-00003.gguf m-00003-of-00003.gguf
complains "a shard of another number" 1 "is not shard 3 of 3" \
    moirai-info m-00001-of-00003.gguf

# commands

is "the same from standard input" \
    "$(moirai-info --json - <whole.gguf | grep '"digest"')" \
    "$(moirai-info --json whole.gguf | grep '"digest"')"
ok "a placement of a prompt" moirai-place -q -c inter-server --rounds 1 \
    --value prompt=64 --value cache=q8_0 -o whole.sol whole.gguf
ok "is valid with the lengths that it records" moirai-check -q whole.sol
ok "a placement of whole layers" moirai-place -q -c inter-server --rounds 1 \
    --value layers=whole -o layers.sol whole.gguf
ok "is valid with its groups" moirai-check -q layers.sol
ok "a model" moirai-emit -q -c inter-server -o whole.lp whole.gguf
done_testing
