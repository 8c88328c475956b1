#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers
# Tests of moirai-benchmark: the rows of its table, the page, the files that it
# keeps, ONNX Runtime, and errors.
. "${top_srcdir:=.}/tests/support/tap.sh"

python=${MOIRAI_PYTHON:-python3}
model=$top_srcdir/examples/residual/model.onnx

# A Python without onnxruntime, and one whose result is fixed.
cat >"$work/without" <<'END'
#!/bin/sh
echo "cannot be imported: No module named 'onnxruntime'"
exit 1
END
cat >"$work/with" <<'END'
#!/bin/sh
[ "$1" = -c ] && [ -f "$3" ] && [ -f "$4/input0.npy" ] && [ "$5" = 3 ] &&
    [ "$6" -ge 1 ] && [ "$7" = image ] && echo "times 9.8.7 5000000 6000000"
END
chmod +x "$work/with" "$work/without"

# Prints the names of the runs of the last --json output.
runs()
{
    "$python" -c 'import json, sys
for row in json.load(open(sys.argv[1])):
    print(row["run"] + (": " + row["why"] if "why" in row else ""))
    assert "why" in row or 0 < row["median_us"] <= row["p95_us"]' "$work/out"
}

exits "two devices" 0 moirai-benchmark -q --runs 3 --cpus 2 --gpus none \
    --python "$work/with" --keep "$work/kept" -o "$work/page.html" "$model"
ok "the placement" grep -q '^placement on [12] of 2 devices  *[0-9]' "$work/out"
ok "a device alone" grep -q '^cpu0 alone  *[0-9].* x \(fast\|slow\)er$' \
    "$work/out"
ok "the other one" grep -q '^cpu1 alone  *[0-9]' "$work/out"
ok "one device of all processors" grep -q '^all processors, [0-9]* thread' \
    "$work/out"
ok "ONNX Runtime" grep -q '^ONNX Runtime 9.8.7, [0-9]* thread.* 5[0.]*  *6[0.]* ' "$work/out"
ok "the page has the table" grep -q '"run": "cpu1 alone"' "$work/page.html"
exits "what is kept is valid" 0 moirai-check -g "$model" "$work/kept/model.sol"
ok "with the measured times" grep -q '<op ' "$work/kept/profile.xml"

exits "a device" 0 moirai-benchmark -q --json --runs 3 --cpus 1 --gpus none \
    --python "$work/without" "$model"
is "its rows" "$(runs | sed 's/, [0-9]* threads*$//')" \
    "placement on 1 of 1 devices
cpu alone
all processors
ONNX Runtime: cannot be imported: No module named 'onnxruntime'"

moirai-zoo -q --layers 1 --hidden 32 --heads 2 --tokens 8 \
    -o "$work/net.graphml"
exits "random weights" 0 moirai-benchmark -q --runs 3 --gpus none --cpus 1 \
    "$work/net.graphml"
ok "there is nothing to place" grep -q 'nothing to place' "$work/out"
is "and no ONNX Runtime" "$(grep -c ONNX "$work/out")" 0

exits "no Python" 0 moirai-benchmark -q --runs 3 --gpus none --cpus 1 \
    --python "$work/nowhere" "$model"
ok "is said" grep -q '^ONNX Runtime  *this Python was not found$' "$work/out"
if "$python" -c 'import numpy, onnxruntime' 2>/dev/null; then
    exits "the real one" 0 moirai-benchmark -q --runs 3 --gpus none --cpus 1 \
        --python "$python" "$model"
    ok "has a version and times" grep -q \
        '^ONNX Runtime [0-9.]*, [0-9]* threads*  *[0-9]' "$work/out"
else
    skip "the real one" "onnxruntime is not installed"
fi

complains "no standard input" 2 'give a file' moirai-benchmark -
complains "the table is on standard output" 2 'must be a file' \
    moirai-benchmark -o - "$model"
complains "no such model" 1 'nowhere.onnx' moirai-benchmark -q --gpus none \
    "$work/nowhere.onnx"
complains "the model is no output" 2 'model.onnx' \
    moirai-benchmark -o "$model" "$model"
for file in "$work/input.npy" "$work/fusion.txt" "$work/machine.xml"; do
    echo precious >"$file"
done
complains "nor is an input" 2 "$work/input.npy, which is read" \
    moirai-benchmark -q -i "image=$work/input.npy" -o "$work/input.npy" "$model"
complains "nor a file of rules" 2 "--output would replace $work/fusion.txt" \
    moirai-benchmark -q --fusion "$work/fusion.txt" -o "$work/fusion.txt" \
    "$model"
complains "what is kept does not replace it" 2 \
    "--keep would replace $work/machine.xml" \
    moirai-benchmark -q --keep "$work" "$work/machine.xml"
is "all are there" \
    "$(cat "$work/input.npy" "$work/fusion.txt" "$work/machine.xml" | uniq)" \
    precious
done_testing
