#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers
# ONNX models in every command: networks and ONNX's own tests of its operators
# compute the same; functions, branches, loops, typed and external data; errors
# and hostile files. MOIRAI_LONG: each test of an operator by itself.
. "${top_srcdir:=.}/tests/support/tap.sh"

unset MOIRAI_CLUSTER MOIRAI_PATH MOIRAI_TRANSPORT
python=${MOIRAI_PYTHON:-python3}
net=$top_srcdir/examples/residual
moirai-info "$net/model.onnx" >"$work/out" 2>&1 ||
    { grep -q 'has no nanopb' "$work/out" && skip_all "there is no nanopb"; }

# a model, in every command

cp -R "$net" "$work/net"
chmod -R u+w "$work/net"
cd "$work/net" || exit 1
ok "information" moirai-info model.onnx
ok "it computes what the framework does" \
    moirai-exec -i image=input0.npy --reference . model.onnx
ok "a model of it" moirai-emit -q -o model.lp model.onnx
ok "a placement" moirai-place -q --rounds 1 -o model.sol model.onnx
ok "executed, by the solution alone" \
    moirai-exec -q -i image=input0.npy --reference . model.sol
moirai-info --json model.onnx | grep '"digest"' >digest
is "the same from standard input" \
    "$(moirai-info --json - <model.onnx | grep '"digest"')" "$(cat digest)"
gzip -kf model.onnx
ok "and compressed" moirai-info model.onnx.gz
complains "whose weights cannot be used where they are" 1 'model.onnx.gz' \
    moirai-exec -i image=input0.npy model.onnx.gz
cd "$OLDPWD" || exit 1

"$python" -c 'import onnx' 2>/dev/null || {
    skip "all that follows" "Python's package onnx is not installed"
    done_testing
    exit 0
}

# whole networks

data=${MOIRAI_DATA:-$top_srcdir/../shared/data}/runnable
for model in small_bert small_regnet small_swin; do
    if [ -e "$data/$model/model.onnx" ]; then
        ok "$model" moirai-exec -q -i "0=$data/$model/input0.npy" \
            --reference "$data/$model" "$data/$model/model.onnx"
    else
        skip "$model" "there is no $data; set MOIRAI_DATA"
    fi
done

# op by op

mkdir "$work/ops"
status=0
"$python" -B "$top_srcdir/tests/oracles/onnx_nodes.py" "$work/ops" \
    ${MOIRAI_LONG:+--each} >"$work/ops.log" 2>&1 || status=$?
comment <"$work/ops.log"
is "operators as ONNX's own tests have them" "$status" 0
sed -n 's/^ONNX(\([A-Za-z0-9]*\),.*/\1/p' \
    "$top_srcdir/src/ingest/onnx/operators.def" |
    while read -r operator; do
        grep -qw "$operator" "$top_srcdir/man/moirai-graph.5" ||
            echo "$operator"
    done >"$work/unlisted"
is "the manual lists every operator" "$(cat "$work/unlisted")" ""

# graphs by hand, and errors

mkdir "$work/hand" "$work/outside"
"$python" -B "$top_srcdir/tests/oracles/onnx_hand.py" "$work/hand" \
    "$work/outside" >"$work/hand.log" 2>&1 || comment <"$work/hand.log"
for folder in "$work/hand"/good/*; do
    name=$(basename "$folder")
    ok "$name" moirai-exec -q --reference "$folder" -i "x=$folder/input0.npy" \
        "$folder/model.onnx"
done
# bad/NAME.onnx has its error in bad/NAME.txt.
for file in "$work/hand"/bad/*.onnx; do
    name=$(basename "$file" .onnx)
    complains "$name" 1 "$(cat "${file%.onnx}.txt")" moirai-info "$file"
    is "in one line" "$(wc -l <"$work/err")" 1
done
complains "a dynamic dimension" 1 \
    "input 'x' has a dynamic dimension (batch,4); give it a size with --shape" \
    moirai-coarsen "$work/hand/dynamic.onnx"
is "which is described" "$(moirai-info "$work/hand/dynamic.onnx" | tail -n 2)" \
    "input       x  f32 batch,4
ops         depend on the sizes of the inputs; add --shape x=1,4"
is "in JSON, too" \
    "$(moirai-info --json "$work/hand/dynamic.onnx" | grep '"name"')" \
    '    {"name": "x", "dtype": "f32", "shape": "batch,4"}'
exits "a shape for a dynamic dimension" 0 \
    moirai-info --shape x=3,4 "$work/hand/dynamic.onnx"
mkdir "$work/relu"
cp "$work/hand/good/if/input0.npy" "$work/relu/output0.npy"
for input in "" x= 0=; do
    ok "or that of the input, ${input}FILE" moirai-exec -q \
        -i "$input$work/relu/output0.npy" --reference "$work/relu" \
        "$work/hand/dynamic.onnx"
done
complains "whose other sizes must fit" 1 "--shape x=1,4" moirai-exec -q \
    -i "$work/hand/good/quantized_lstm_row/output0.npy" \
    "$work/hand/dynamic.onnx"
complains "for another input" 2 "names no input" \
    moirai-info --shape z=1 "$work/hand/dynamic.onnx"
# --value: the branch of an If follows from an input

cd "$work/hand/value" || exit 1
complains "a branch that depends on an input" 1 '--value' moirai-info model.onnx
for rate in 8000 16000; do
    ok "with its value, $rate" moirai-exec -q --value "rate=$rate" -i input0.npy \
        --reference "$rate" model.onnx
done
ok "a placement with it" moirai-place -q --rounds 1 --value rate=8000 \
    -o model.sol model.onnx
ok "knows it" moirai-exec -q -i input0.npy --reference 8000 model.sol
is "and says so" "$(moirai-info model.sol | grep '^value')" \
    "value       rate=8000"
ok "a bundle of it" moirai-exec --bundle job.tar model.sol
ok "too" moirai-exec -q -i input0.npy --reference 8000 job.tar
ok "is checked" moirai-check -q job.tar
complains "the input is gone" 2 'names no input' \
    moirai-exec --value rate=8000 -i rate=input0.npy model.onnx
for value in rate=1,2:'has 2 numbers' rate=1.5:'no number of type i64' \
    fare=1:'names no input' rate=:'no number' rate:'names no input'; do
    complains "--value ${value%%:*}" 2 "${value#*:}" \
        moirai-info --value "${value%%:*}" model.onnx
done
complains "a value twice" 2 'given twice' \
    moirai-info --value rate=1 --value 1=2 model.onnx
cd "$OLDPWD" || exit 1

complains "what cannot be run is named" 1 'onnx:ImageDecoder): cannot be run' \
    moirai-exec -i "x=$work/hand/good/if/input0.npy" "$work/hand/opaque.onnx"
ok "and can be placed" moirai-place -q --rounds 1 -o "$work/opaque.sol" \
    "$work/hand/opaque.onnx"
ok "and coarsened" \
    moirai-coarsen -q --fusion none -o "$work/opaque.graphml" \
    "$work/hand/opaque.onnx"
ok "by its own name" grep -q '>onnx:ImageDecoder<' "$work/opaque.graphml"

ok "so is an operator of another domain" \
    moirai-place -q --rounds 1 -o "$work/custom.sol" "$work/hand/custom.onnx"

# other files

printf 'PK\003\004zip' >"$work/net.pt"
printf 'GGUF\003\0\0\0' >"$work/net.gguf"
printf '\060\0\0\0\0\0\0\0{"a":1}' >"$work/net.safetensors"
printf '\010\001\022\007model' >"$work/saved_model.pb"
complains "a checkpoint" 1 'moirai-export' moirai-info "$work/net.pt"
complains "GGUF" 1 'the file is incomplete' moirai-info "$work/net.gguf"
complains "safetensors" 1 'give its folder' moirai-info "$work/net.safetensors"
complains "TensorFlow" 1 'tf2onnx' moirai-info "$work/saved_model.pb"
complains "an ONNX model as a cluster" 1 'looks like an ONNX model' \
    moirai-emit -c "$net/model.onnx" "$net/model.onnx"

done_testing
