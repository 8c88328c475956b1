#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers
# Tests of --shape with several shapes: networks with dynamic dimensions are
# placed for all of them, and run with inputs of any of them.
. "${top_srcdir:=.}/tests/support/tap.sh"

unset MOIRAI_CLUSTER MOIRAI_PATH
top_srcdir=$(cd "$top_srcdir" && pwd)
models=$top_srcdir/tests/cli
python=${MOIRAI_PYTHON:-python3}
MOIRAI_LIBRARY=$(cd "$top_builddir" && pwd)/src/lib/libmoirai.so.1.0.0
PYTHONDONTWRITEBYTECODE=1
PYTHONPATH=$top_srcdir/contrib/python:$models
export MOIRAI_LIBRARY PYTHONDONTWRITEBYTECODE PYTHONPATH
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
complains "another number" 2 "has 2 shapes, and mask=1,8;1,9;1,7 has 3" \
    moirai-info --shape 'ids=1,8;1,9' --shape 'mask=1,8;1,9;1,7' bert.onnx
complains "a shape twice" 2 "lists the shape 1x8 twice" \
    moirai-info --shape 'ids=1,8;1,8' bert.onnx
complains "a shape twice, written in two ways" 2 "lists the shape 1x8 twice" \
    moirai-info --shape 'ids=1,8;01,08' bert.onnx
long=$(seq -f '%g,33;' 1 64 | tr -d '\n')
complains "more shapes than a solution holds" 1 "than a solution can hold" \
    moirai-place -q -c two.xml --shape "ids=${long%;}" \
    --shape "mask=${long%;}" bert.onnx
complains "a shape of another rank" 2 "input 'ids' has 2 dimensions" \
    moirai-info --shape 'ids=1,8;1' bert.onnx
complains "no second reading" 2 "<stdin>: can be read only once; give a file" \
    sh -c "moirai-info --shape 'ids=1,8;1,9' - <bert.onnx"
echo '<workload><phase graph="text.onnx"/></workload>' >w.xml
complains "phases in a phase" 1 "w.xml:1: a list of shapes makes a workload" \
    moirai-info --shape 'ids=1,8;1,9' w.xml

# Single runs have the outputs of ONNX Runtime, at shapes that were placed.
"$python" -c 'import onnxruntime' 2>/dev/null || {
    skip "single runs" "MOIRAI_PYTHON has no onnxruntime"
    done_testing
    exit
}
"$python" "$models/dynamic_models.py" . 1,6 3,6 5,3 other/2,9
# run NETWORK N,L [OPTION]... SOLUTION
run()
{
    folder=$1/$2
    shift 2
    for file in "$folder"/*=.npy; do
        name=${file##*/}
        set -- -i "${name%.npy}$file" "$@"
    done
    moirai-exec --reference "$folder" "$@"
}
sed 's/gbps="100" latency_us="1"/gbps="1000000"/' two.xml >near.xml
sed '/"B"\|link/d' two.xml >one.xml
in_ci && more="shapes causal"
for network in cnn bert lstm text ${more-}; do
    set --
    for file in $network/shape.*; do
        set -- "$@" --shape "$(cat "$file")"
    done
    moirai-place -q -c two.xml --method heft -o $network.sol "$@" \
        $network.onnx >/dev/null
    exits "$network at 3,6" 0 run $network 3,6 $network.sol
    ok "equals ONNX Runtime" grep -q '^equal to' out
    exits "at another shape" 0 run $network other/2,9 --shapes-max 1 \
        $network.sol
    ok "too" grep -q '^equal to' out
    method=dp-contiguous
    [ $network != bert ] || method=m-topo
    moirai-place -q -c near.xml --method $method -o $network.2.sol "$@" \
        $network.onnx >/dev/null
    exits "at 5,3 on two devices" 0 run $network 5,3 $network.2.sol
    ok "too" grep -q '^equal to' out
    ok "with transfers" grep -q '^transfers *[1-9]' out
done
complains "another shape" 1 "bert.onnx: was not placed for inputs of the \
shapes mask=2,9 ids=2,9, but for: ids=1,6 mask=1,6; ids=3,6 mask=3,6; ids=5,3 \
mask=5,3; place it" run bert other/2,9 bert.sol
"$python" -c 'import numpy
numpy.save("wide.npy", numpy.zeros((2, 3, 17, 16), "f4"))'
complains "a fixed dimension" 1 "cnn.onnx: with inputs of the shapes \
x=2,3,17,16: input 'x' has a dynamic dimension (N,3,16,16)" \
    moirai-exec -i x=wide.npy --shapes-max 1 cnn.sol
moirai-place -q -c two.xml --method heft -o still.sol \
    "$top_srcdir/examples/residual/model.onnx" >/dev/null
complains "fixed dimensions" 1 "does not take inputs of the shapes 2,3,17,16" \
    moirai-exec -i wide.npy --shapes-max 1 still.sol
exits "without inputs" 0 moirai-exec text.sol
many=$(seq -f '%g,3;' 5 24 | tr -d '\n')
moirai-place -q -c two.xml --method heft -o many.sol --shape "ids=${many}1,3" \
    text.onnx >/dev/null
exits "many shapes are recorded" 0 run text 5,3 many.sol
mkdir packed
exits "shapes are packed" 0 moirai-exec --bundle packed/bert.tar bert.sol
exits "and run" 0 run bert 3,6 packed/bert.tar
ok "all of them" grep -q '^equal to' out
exits "a placement for one shape" 0 moirai-place -q -c two.xml --rounds 1 \
    --shape ids=1,6 -o one.sol bert.onnx
exits "runs others, too" 0 run bert other/2,9 --shapes-max 1 one.sol
exits "a graph without a placement, too" 0 run bert 3,6 \
    --shape 'ids=1,6;3,6' bert.onnx
ok "at the shape of its inputs" grep -q '^equal to' out

# Streams of requests with any of the shapes.
n=0
: >stream
for at in 3,6 1,6 5,3 3,6; do
    mkdir -p requests/000$n
    for name in ids mask; do
        cp bert/$at/$name=.npy requests/000$n/$name.npy
        cat bert/$at/$name=.npy >>stream
    done
    n=$((n + 1))
done
# same FOLDER: the outputs of the requests are those of ONNX Runtime.
same()
{
    "$python" -c '
import sys, numpy
for n, at in enumerate(["3,6", "1,6", "5,3", "3,6"]):
    for i in range(2):
        own, other = (numpy.load(f"{folder}/output{i}.npy") for folder in (
            f"{sys.argv[1]}/{n:04}", f"bert/{at}"))
        assert own.shape == other.shape, (n, own.shape, other.shape)
        assert numpy.abs(own - other).max() <= 1e-4, n' "$1"
}
exits "requests of several shapes" 0 moirai-exec --inputs requests \
    --in-flight 2 -o answers bert.2.sol
ok "have their outputs" same answers
ok "with a mean prediction" grep -q '^predicted .* a request' out
exits "from standard input" 0 sh -c \
    'moirai-exec --inputs - -o streamed bert.2.sol <stream'
ok "too" same streamed
mkdir requests/0004
cp bert/other/2,9/ids=.npy requests/0004/ids.npy
cp bert/other/2,9/mask=.npy requests/0004/mask.npy
exits "a request of another shape" 1 moirai-exec --inputs requests -o with \
    bert.2.sol
ok "fails alone" same with
ok "with a list of the shapes" grep -q \
    'request 4: .* ids=2,9, but for: ids=1,6 mask=1,6; ids=3,6' err
cat bert/other/2,9/mask=.npy bert/1,6/ids=.npy stream >odd
exits "an array of another shape fails its request" 1 sh -c \
    'moirai-exec --inputs - -o odd.out bert.2.sol <odd'
is "and the others follow" "$(ls odd.out | wc -l)" 4
exits "options contradict" 2 moirai-exec --inputs requests --shapes-max 1 \
    bert.sol

# Dynamic batching: requests of one sequence each, of two lengths.
cat >singles.py <<'EOF'
import pathlib, sys, numpy
from dynamic_models import inputs, runtime
LENGTHS = [6, 6, 6, 6, 6, 9, 9, 9, 6, 6]
folders = sys.argv[1:]
oracle = runtime("bert.onnx") if folders else None
for n, length in enumerate(LENGTHS):
    given = {key: value[n % 3:n % 3 + 1] for key, value in inputs(
        "bert", 3, length).items()}
    folder = pathlib.Path("singles", f"{n:04}")
    if not folders:
        folder.mkdir(parents=True)
        with open("singles.stream", "ab") as stream:
            for key, value in given.items():
                numpy.save(folder / f"{key}.npy", value)
                numpy.lib.format.write_array(stream, value)
        continue
    for i, wanted in enumerate(oracle.run(None, given)):
        for folder in folders:
            own = numpy.load(f"{folder}/{n:04}/output{i}.npy")
            assert own.shape == wanted.shape, (n, own.shape)
            assert numpy.abs(own - wanted).max() <= 1e-4, (folder, n)
EOF
"$python" singles.py
moirai-place -q -c near.xml --method m-topo -o batch.sol \
    --shape 'ids=1,6;2,6;4,6;1,9;4,9' bert.onnx >/dev/null
exits "requests in batches" 0 moirai-exec --inputs singles --batch 8 \
    --in-flight 2 -o together batch.sol
# 4 and 1 of length 6, 3 of 9 in a batch of 4, and 2 of 6.
ok "of the sizes that were placed" grep -q '^batches *4, of 2.5 requests' out
exits "from standard input" 0 sh -c 'moirai-exec --json --inputs - --batch 4 \
    --wait 1e6 -o piped batch.sol <singles.stream'
ok "in the same batches" grep -q '"batches": 4' out
ok "with the outputs of single runs" "$python" singles.py together piped
cp bert/3,6/ids=.npy singles/0003/ids.npy
exits "a request that cannot be read" 1 moirai-exec --inputs singles \
    --batch 3 -o but batch.sol
is "fails alone" "$(ls but | wc -l)" 9
cp singles/0004/ids.npy singles/0003/ids.npy
exits "random requests" 0 moirai-exec --requests 9 --batch 4 batch.sol
ok "fill batches" grep -q '^batches *3, of 3 requests' out
complains "no larger batch" 2 "--batch needs a placement for the batch 1" \
    moirai-exec --requests 4 --batch 4 lstm.2.sol
exits "a wait without batches" 2 moirai-exec --inputs singles --wait 5 batch.sol

# The library plans a shape once.
if [ -e "$MOIRAI_LIBRARY" ]; then
    ok "the library equals ONNX Runtime at all shapes of each network" \
        "$python" "$models/dynamic_case.py" "$(cases 2 10 10)" one.xml near.xml
else
    skip "the library" "libmoirai.so is not built"
fi

done_testing
