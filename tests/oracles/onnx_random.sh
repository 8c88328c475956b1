#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers
# Random ONNX nodes of every operator and type, and small graphs: the same bytes
# whether constants are folded or the operator runs, and the outputs of ONNX's
# reference evaluator, or of ONNX Runtime where that is installed.
# MOIRAI_ONNX_CASES is the number of cases of each operator, MOIRAI_SEED the
# seed.
. "${top_srcdir:=.}/tests/support/tap.sh"

unset MOIRAI_CLUSTER MOIRAI_PATH MOIRAI_TRANSPORT
python=${MOIRAI_PYTHON:-python3}
moirai-info "$top_srcdir/examples/residual/model.onnx" >"$work/out" 2>&1 ||
    { grep -q 'has no nanopb' "$work/out" && skip_all "there is no nanopb"; }
"$python" -c 'import onnx' 2>/dev/null ||
    skip_all "Python's package onnx is not installed"
runtime=
"$python" -c 'import onnxruntime' 2>/dev/null && runtime=--runtime

n=${MOIRAI_ONNX_CASES:-$(cases 1 4 200)}
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE

# campaign CLAIM MODE CASES
campaign()
{
    status=0
    "$python" "$top_srcdir/tests/oracles/onnx_random.py" "$2" "$work/$2" \
        --cases "$3" --seed "${MOIRAI_SEED:-1}" $runtime \
        >"$work/$2.log" 2>&1 || status=$?
    grep -v '^refused' "$work/$2.log" | comment
    is "$1" "$status" 0
}

campaign "constants fold to what the operators compute" fold "$n"
campaign "single nodes compute what an oracle does" nodes "$n"
campaign "small graphs, too" graphs $((n * 40))

# Operators of com.microsoft have no other oracle.
if [ -n "$runtime" ]; then
    ok "operators of ONNX Runtime compute what it does" "$python" \
        "$top_srcdir/tests/oracles/onnx_runtime.py" "$work/runtime" \
        "$(cases 3 20 1000)" "${MOIRAI_SEED:-1}"
else
    skip "operators of ONNX Runtime compute what it does" \
        "Python's package onnxruntime is not installed"
fi

done_testing
