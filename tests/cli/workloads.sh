#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers
# Tests of workloads, moirai-workload(5): every command that takes a graph.
. "${top_srcdir:=.}/tests/support/tap.sh"

unset MOIRAI_CLUSTER MOIRAI_PATH
MOIRAI_LIBRARY=$(cd "$top_builddir" && pwd)/src/lib/libmoirai.so.1.0.0
PYTHONPATH=$(cd "$top_srcdir" && pwd)/contrib/python
PYTHONDONTWRITEBYTECODE=1
export MOIRAI_LIBRARY PYTHONPATH PYTHONDONTWRITEBYTECODE
cp "$top_srcdir/examples/inception.graphml" "$work"
cp "$top_srcdir/tests/fuzz/corpus/gguf/llama" "$work/model.gguf"
language_model "$work/far/folder"
cd "$work" || exit 1
cat >w.xml <<'END'
<workload name="twice">
  <phase name="p" graph="inception.graphml" weight="3"/>
  <phase name="q" graph="inception.graphml" weight="4"/>
</workload>
END
set -- -q -c inter-server

# Two phases of one graph are seven runs of it.
ok "the graph alone" moirai-place "$@" --rounds 9 -o one.sol inception.graphml
ok "is placed as a workload" moirai-place "$@" --rounds 9 -o w.sol w.xml
moirai-check --json one.sol >one.json
moirai-check --json w.sol >w.json
cat >compare.py <<'END'
import json, math
one, w = (json.load(open(f"{name}.json")) for name in ("one", "w"))
assert math.isclose(w["makespan_us"], 7 * one["makespan_us"], abs_tol=0.01)
assert [p["weight"] for p in w["phases"]] == [3, 4]
assert math.isclose(sum(p["weight"] * p["makespan_us"] for p in w["phases"]),
                    w["makespan_us"], abs_tol=0.01)
place = w["placement"]
for op in place:
    name = op.split("@")[0].split(">")[0]
    assert name == "" or place[op] == place[name], op
END
ok "takes seven times as long, and copies share a device" \
    "${MOIRAI_PYTHON:-python3}" compare.py
ok "a check shows the phases" sh -c 'moirai-check w.sol | grep -q "x [0-9.]* .s, q"'
ok "a placement without times is valid" sh -c \
    'moirai-check -q -c inter-server --graph w.xml w.json'
ok "a model is written" moirai-emit "$@" -o w.lp w.xml
ok "a report" moirai-report -o w.html w.sol
ok "info knows the format" sh -c 'moirai-info w.xml | grep -q "format *workload"'
ok "numeric formats apply to phases" moirai-place "$@" --rounds 1 \
    --precision f16 -o half.sol w.xml
ok "and are checked" moirai-check -q half.sol
for objective in latency period; do
    ok "objective $objective" moirai-place "$@" --rounds 1 --memory live \
        --objective $objective -o w.sol w.xml
    ok "is valid" moirai-check -q w.sol
done

# A language model.
ok "prompt and answer" moirai-place "$@" --rounds 2 \
    --value prompt=20,generate=10 -o m.sol model.gguf
ok "are phases" sh -c 'moirai-check m.sol | grep -q "= 10 x .*, decode"'
ok "as whole layers" moirai-place "$@" --rounds 2 --value layers=whole \
    --value prompt=20,generate=10 -o m.sol model.gguf
ok "that are valid" moirai-check -q m.sol
ok "options are these values" moirai-place "$@" --rounds 2 --whole-layers \
    --prompt 20 --generate=10 -o o.sol model.gguf
is "of the same placement" "$(grep -v '^#\|^moirai_[ov]_' o.sol | cksum)" \
    "$(grep -v '^#\|^moirai_[ov]_' m.sol | cksum)"
ok "a type of the cache" sh -c \
    'moirai-info --context 64 --cache-type q8_0 model.gguf | grep -q "^cache  *q8_0"'

# States that options name.
cat >state.graphml <<'END'
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="b" for="node" attr.name="output_bytes" attr.type="long"/>
<key id="s" for="node" attr.name="state" attr.type="string"/>
<key id="t" for="node" attr.name="time_us.A" attr.type="double"/>
<graph edgedefault="directed">
<node id="past.0"><data key="b">640</data></node>
<node id="past.1"><data key="b">320</data></node>
<node id="x"/><node id="add.0"/><node id="add.1"/>
<node id="present.0"/><node id="present.1"/>
<edge source="past.0" target="add.0"/><edge source="x" target="add.0"/>
<edge source="past.1" target="add.1"/><edge source="add.0" target="add.1"/>
<edge source="add.0" target="present.0"/>
<edge source="add.1" target="present.1"/>
</graph></graphml>
END
memory() { moirai-info "$@" | awk '$1 == "memory" { print $2, $3 }'; }
is "states count as memory" \
    "$(memory --state 'past.*=present.*' state.graphml)" "960 B"
is "so does one" "$(memory --state past.1=present.1 state.graphml)" "320 B"
cat >phases.xml <<'END'
<workload name="states">
  <phase name="prompt" graph="state.graphml"/>
  <phase name="decode" graph="state.graphml" weight="9"/>
</workload>
END
is "moirai-info lists phases and their states" \
    "$(moirai-info --state 'past.*=present.*' phases.xml |
        sed -n '/^phases/,/decode/p' | sed 's/[0-9]* ops/N ops/')" \
    "phases      prompt: weight 1, N ops, states 960 B
            decode: weight 9, N ops, states 960 B"
ok "also as JSON" sh -c 'moirai-info --json --state "past.*=present.*" \
    phases.xml | grep -q "\"decode\", \"weight\": 9,.*\"state_bytes\": 960"'
complains "no input" 2 "--state old=new: the graph has no input 'old'" \
    moirai-info --state old=new state.graphml
complains "no output" 2 "the graph has no output for its input 'past.0'" \
    moirai-info --state 'past.*=new.*' state.graphml
complains "no pair" 2 "give an input and the output that replaces it" \
    moirai-info --state 'past.*=present' state.graphml
complains "twice" 2 "'past.0' is a state already" moirai-info \
    --state past.0=present.0 --state 'past.*=present.*' state.graphml
state() { sed "s|id=\"$1\"/>|id=\"$1\"><data key=\"s\">kv</data></node>|"; }
state x <state.graphml | state add.0 | state add.1 >two.graphml
complains "two writers" 1 \
    "two.graphml:8: 'add.0' and 'add.1' both write the state 'kv'" \
    moirai-info two.graphml
state add.0 <state.graphml >none.graphml
complains "no reader" 1 "none.graphml:8: no op reads the state 'kv' that" \
    moirai-info none.graphml

# The library.
cat >place.py <<'END'
import json
import moirai
p = moirai.place("w.xml", "inter-server", rounds=9)
placed = json.load(open("w.json"))["makespan_us"]
assert p.valid and abs(p.makespan_us - placed) < 0.01
try:
    moirai.read("w.xml").write("out.graphml")
except moirai.MoiraiError as error:
    assert "workload of 2 phases" in str(error)
else:
    raise AssertionError("written as a graph")
END
ok "the library places a workload" "${MOIRAI_PYTHON:-python3}" place.py

# A folder of transformers is found by its hint and by its name.
ok "a folder of transformers" moirai-place "$@" --rounds 1 -o hint.sol far/folder
ok "is recorded with its name" grep -q '^# file: far/folder$' hint.sol
ok "and found by it" moirai-check -q hint.sol
mv far/folder .
ok "in a folder that is searched, too" moirai-check -q hint.sol
sed -i 's/"num_attention_heads":8/"num_attention_heads":16/' folder/config.json
complains "another one of that name is told" 1 \
    "but folder/config.json is another: " moirai-check hint.sol
echo '{}' >folder/config.json
complains "a config.json of no model" 1 \
    "folder/config.json: lacks model_type" moirai-place "$@" folder

# Values and files that do not fit.
complains "a value of a plain graph" 2 \
    "goes with ONNX, OpenVINO, GGUF and transformers models and workloads" \
    moirai-place "$@" --value x=1 inception.graphml
complains "a shape of one" 2 \
    "goes with ONNX and OpenVINO models and workloads of them only" \
    moirai-place "$@" --shape x=1 inception.graphml
sed 's/phase name="q" graph="/&no-/' w.xml >missing.xml
complains "a phase without its file" 1 \
    "missing.xml:3: phase 'q': no-inception.graphml: cannot open" \
    moirai-place "$@" missing.xml

exits "without inputs, the first phase is run" 0 \
    moirai-exec --random-weights 1 w.xml
complains "nor written" 1 "give the graph of one" \
    moirai-coarsen -o out.graphml w.xml
done_testing
