#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers
# Tests of --shape with several shapes: networks with dynamic dimensions are
# placed for all of them.
. "${top_srcdir:=.}/tests/support/tap.sh"

unset MOIRAI_CLUSTER MOIRAI_PATH
models=$(cd "$top_srcdir/tests/cli" && pwd)
python=${MOIRAI_PYTHON:-python3}
PYTHONDONTWRITEBYTECODE=1
PYTHONPATH=$(cd "$top_srcdir" && pwd)/contrib/python:$models
export PYTHONDONTWRITEBYTECODE PYTHONPATH
"$python" -c 'import numpy, onnx' 2>/dev/null ||
    skip_all "MOIRAI_PYTHON has no onnx"
cd "$work" || exit 1
"$python" "$models/dynamic_models.py" . || exit 1
cat >two.xml <<'EOF'
<cluster name="two">
  <device id="A" kind="cpu" gflops="50" memory_bandwidth_gbs="10" threads="1"/>
  <device id="B" kind="cpu" gflops="40" memory_bandwidth_gbs="8" threads="1"/>
  <link between="A B" gbps="100" latency_us="1"/>
</cluster>
EOF
set -- --shape 'ids=1,8;1,32;4,32'

# A phase is the graph at one shape; the mask has the dimensions of the ids.
moirai-info --json "$@" bert.onnx >list.json
moirai-info --json --shape ids=4,32 --shape mask=4,32 bert.onnx >one.json
ok "the last phase is the graph at this shape" "$python" -c '
import json
phases = json.load(open("list.json"))["phases"]
assert [p["name"] for p in phases] == ["1x8", "1x32", "4x32"], phases
assert [p["weight"] for p in phases] == [1, 1, 1]
assert phases[2]["ops"] == json.load(open("one.json"))["ops"]'
ok "one placement of all" moirai-place -q -c two.xml --rounds 1 "$@" \
    -o bert.sol bert.onnx
is "has a time for each" "$(moirai-check bert.sol |
    sed -n 's/^phase .*, //p' | tr '\n' ' ')" "1x8 1x32 4x32 "
ok "as the same placement of each by itself" "$python" - <<'EOF'
import json, math, subprocess
def run(*words):
    return subprocess.run(words, check=True, capture_output=True).stdout
found = json.loads(run("moirai-check", "--json", "bert.sol"))
json.dump(found["placement"], open("place.json", "w"))
for phase in found["phases"]:
    name = phase["name"]
    place = {op.split("@")[0]: device
             for op, device in found["placement"].items() if ">" not in op
             and ("@" not in op or op.endswith("@" + name))}
    json.dump({"placement": place}, open("place.json", "w"))
    alone = json.loads(run("moirai-check", "-q", "--json", "--graph",
                           "bert.onnx", "-c", "two.xml", "--shape",
                           "ids=" + name.replace("x", ","), "place.json"))
    # The order of ops is the solution's there, and list scheduling here.
    assert alone["status"] == "valid"
    assert math.isclose(alone["makespan_us"], phase["makespan_us"],
                        rel_tol=0.05), (alone["makespan_us"], phase)
EOF
ok "a model of all" moirai-emit -q -c two.xml --slack 2 "$@" -o bert.lp \
    bert.onnx
is "lists of several inputs go together" "$(moirai-info \
    --shape 'ids=1,8;2,8' --shape 'mask=1,8;2,8' bert.onnx |
    sed -n 's/.*\(.x8\): weight.*/\1/p' | tr '\n' ' ')" "1x8 2x8 "
is "and name the phases where one does not" "$(moirai-info \
    --shape 'ids=1,8;1,8' --shape 'mask=1,8;2,8' bert.onnx |
    sed -n 's/.*\(..._...\): weight.*/\1/p' | tr '\n' ' ')" "1x8_1x8 1x8_2x8 "
complains "another number of shapes" 2 "has 2 shapes, and mask=1,8;1,9;1,7 has 3" \
    moirai-info --shape 'ids=1,8;1,9' --shape 'mask=1,8;1,9;1,7' bert.onnx
complains "a shape twice" 2 "lists the shape 1x8 twice" \
    moirai-info --shape 'ids=1,8;1,8' bert.onnx
complains "a shape of another rank" 2 "input 'ids' has 2 dimensions" \
    moirai-info --shape 'ids=1,8;1' bert.onnx
complains "no second reading" 2 "<stdin>: can be read only once; give a file" \
    sh -c "moirai-info --shape 'ids=1,8;1,9' - <bert.onnx"
echo '<workload><phase graph="text.onnx"/></workload>' >w.xml
complains "phases in a phase" 1 "w.xml:1: a list of shapes makes a workload" \
    moirai-info --shape 'ids=1,8;1,9' w.xml

done_testing
