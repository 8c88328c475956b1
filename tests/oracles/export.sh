#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers
# Tests of moirai-export: ONNX models become graphs that compute the same, op
# by op and as whole networks; the files it writes, and errors.
. "${top_srcdir:=.}/tests/support/tap.sh"

unset MOIRAI_CLUSTER MOIRAI_PATH MOIRAI_TRANSPORT
python=${MOIRAI_PYTHON:-python3}
"$python" -c 'import onnx' 2>/dev/null ||
    skip_all "Python's package onnx is not installed"

cp -R "$top_srcdir/examples/residual" "$work/net"
chmod -R u+w "$work/net"
net=$work/net

# Prints the files in the folder, except those that the test put there.
left_in()
{
    find "$1" -type f ! -name '*.onnx' ! -name '*.npy' ! -name '*.xml' \
        ! -name '*.py' | sed 's|.*/||' | sort | tr '\n' ' '
}

bytes_of()
{
    cat "$1/model.graphml" "$1/model.bin" | cksum
}

# ---- a model

exits "a model" 0 moirai-export "$net/model.onnx"
is "is reported in one line" "$(cat "$work/out" && wc -l <"$work/err")" 1
is "graph and weights are beside it" "$(left_in "$net")" \
    "model.bin model.graphml "
ok "every command reads it" moirai-info "$net/model.graphml"
ok "it computes what the framework does" moirai-exec \
    -i "image=$net/input0.npy" --reference "$net" "$net/model.graphml"
first=$(bytes_of "$net")
exits "again, without a message" 0 \
    moirai-export -q "$net/model.onnx" --output="$net/model.graphml"
is "none at all" "$(cat "$work/out" "$work/err")" ""
is "and with the same bytes" "$(bytes_of "$net")" "$first"
ok "from within Python" env PYTHONPATH="$top_srcdir/contrib/export" \
    PYTHONDONTWRITEBYTECODE=1 "$python" -c '
import sys
from moirai_export import export
export(sys.argv[1], path=sys.argv[2])' "$net/model.onnx" "$net/model.graphml"
is "they are the same, too" "$(bytes_of "$net")" "$first"

# ---- whole networks

# Compares with the reference outputs of the model, computed by another
# framework.
matches_reference()
{
    moirai-export "$1/model.onnx" -o "$work/twin.graphml" &&
        moirai-exec -i "0=$1/input0.npy" --reference "$1" "$work/twin.graphml"
}

data=${MOIRAI_DATA:-$top_srcdir/../shared/data}/runnable
for model in small_bert small_regnet small_swin; do
    if [ -e "$data/$model/model.onnx" ]; then
        ok "$model" matches_reference "$data/$model"
    else
        skip "$model" "there is no $data; set MOIRAI_DATA"
    fi
done

# ---- op by op

mkdir "$work/ops"
status=0
"$python" -B "$top_srcdir/tests/oracles/export_onnx.py" "$work/ops" \
    >"$work/ops.log" 2>&1 || status=$?
comment <"$work/ops.log"
is "operators as ONNX's own tests have them" "$status" 0

# ---- errors

mkdir "$work/bad"
bad=$work/bad
cat >"$work/bad.py" <<'END'
import sys

import onnx
from onnx import helper


def save(name, nodes, shape, weights=()):
    tensor = onnx.TensorProto.FLOAT
    graph = helper.make_graph(
        nodes, "bad", [helper.make_tensor_value_info("x", tensor, shape)],
        [helper.make_tensor_value_info("y", tensor, None)], weights)
    onnx.save(helper.make_model(graph), f"{sys.argv[1]}/{name}.onnx")


relu = helper.make_node("Relu", ["x"], ["y"])
save("dynamic", [relu], ["batch", 4])
save("missing", [helper.make_node("Det", ["x"], ["d"], "first"),
                 helper.make_node("NonZero", ["x"], ["n"], "second"),
                 helper.make_node("Add", ["d", "d"], ["y"])], [2, 2])
weights = onnx.TensorProto(name="w", dims=[-5], raw_data=bytes(12),
                           data_type=onnx.TensorProto.FLOAT)
add = helper.make_node("Add", ["x", "w"], ["y"])
save("negative", [add], [3], [weights])
save("negative_constant", [helper.make_node("Constant", [], ["w"],
                                            value=weights), add], [3])
END
"$python" -B "$work/bad.py" "$bad"
head -c 5000 "$net/model.onnx" >"$bad/short.onnx"

complains "no file" 1 'none.onnx: No such file' moirai-export "$bad/none.onnx"
complains "half a file" 1 'is no ONNX model' moirai-export "$bad/short.onnx"
complains "what is no model" 1 'is neither .onnx' \
    moirai-export "$net/input0.npy"
complains "an OpenVINO model" 1 'every command reads' \
    moirai-export "$top_srcdir/examples/tiny_ir.xml"
complains "no fixed shape" 1 "input 'x' has no fixed shape; give it one" \
    moirai-export "$bad/dynamic.onnx"
complains "all that is missing, at once" 1 "Det 'first': there is no such" \
    moirai-export "$bad/missing.onnx"
ok "the second as well" grep -q "NonZero 'second': " "$work/err"
complains "weights with a negative dimension" 1 \
    "weights 'w' are not as their shape" moirai-export "$bad/negative.onnx"
complains "a constant with one" 1 "has a negative dimension" \
    moirai-export "$bad/negative_constant.onnx"
complains "a folder that is not there" 1 'No such file' \
    moirai-export "$net/model.onnx" -o "$bad/none/model.graphml"
complains "another input" 1 "there is no input 'z'" \
    moirai-export --shape z=1 "$net/model.onnx"
truncate -s 2G "$bad/large.onnx"
complains "more than there is memory for" 1 'out of memory' \
    env OPENBLAS_NUM_THREADS=1 bash -c 'ulimit -v 1500000
        exec moirai-export "$1"' - "$bad/large.onnx"
rm "$bad/large.onnx"
complains "more than the disk takes" 1 'File too large' \
    bash -c 'trap "" XFSZ; ulimit -f 1; exec moirai-export "$@"' - \
    "$net/model.onnx" -o "$bad/model.graphml"
is "nothing is left behind" "$(left_in "$bad")" ""
exits "a shape for it" 0 \
    moirai-export --shape x=3,4 "$bad/dynamic.onnx" -o "$work/dynamic.graphml"
ok "is the input's" grep -q '>3,4<' "$work/dynamic.graphml"
complains "no source" 2 "try 'moirai-export --help'" moirai-export
complains "no shape" 2 "'x=1,b' is not NAME=1,2,3" \
    moirai-export --shape x=1,b "$bad/dynamic.onnx"
complains "no such option" 2 "try 'moirai-export --help'" \
    moirai-export --nope "$bad/dynamic.onnx"
ok "help" moirai-export --help
ok "the version" moirai-export --version

done_testing
