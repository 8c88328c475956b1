#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers
# Tests of moirai-export's command line, and of its errors.
. "${top_srcdir:=.}/tests/support/tap.sh"

unset MOIRAI_CLUSTER MOIRAI_PATH MOIRAI_TRANSPORT
net=$top_srcdir/examples/residual
"${MOIRAI_PYTHON:-python3}" -c '' 2>/dev/null || skip_all "there is no Python"

complains "what is no model" 1 'is neither .pt2' \
    moirai-export "$net/input0.npy"
complains "an OpenVINO model" 1 'every command reads' \
    moirai-export "$top_srcdir/examples/tiny_ir.xml"
complains "an ONNX model" 1 'every command reads' \
    moirai-export "$net/model.onnx"
complains "no source" 2 "try 'moirai-export --help'" moirai-export
complains "no shape" 2 "'x=1,b' is not NAME=1,2,3" \
    moirai-export --shape x=1,b net.pt2
complains "no such option" 2 "try 'moirai-export --help'" \
    moirai-export --nope net.pt2
complains "a folder that is not there" 1 "there is no folder '$work/none'" \
    moirai-export -o "$work/none/x.graphml" net.pt2
complains "a folder in place of a file" 1 'is a folder; name a file in it' \
    moirai-export -o "$work" net.pt2
complains "no such program" 1 'net.pt2: there is no such file' \
    moirai-export -o "$work/x.graphml" net.pt2
complains "weights alone" 1 'net.pt: has weights but no network' \
    moirai-export -o "$work/x.graphml" net.pt
complains "a GGUF file" 1 'net.gguf: is a GGUF file, which can be placed' \
    moirai-export -o "$work/x.graphml" net.gguf
complains "no such module" 1 "there is no module 'no_such_module'" \
    moirai-export -o "$work/x.graphml" no_such_module:net
complains "no such Python" 1 "there is no program '$work/python'" \
    env MOIRAI_PYTHON="$work/python" moirai-export net.pt2

# What the user's own Python raises is one line.
cat >"$work/net.py" <<'END'
def raises():
    return [][1]


def leaves():
    raise SystemExit("done")


def lacks():
    import no_such_package


def returns():
    return 5


value = 3


def terminated():
    import os
    import signal
    os.kill(os.getpid(), signal.SIGTERM)
END
echo 'def net(:' >"$work/broken.py"
complains "an exception" 1 'raises() raised IndexError in line 2: list index' \
    moirai-export -o "$work/x.graphml" "$work/net.py:raises"
complains "an exit" 1 'leaves() raised SystemExit in line 6: done' \
    moirai-export -o "$work/x.graphml" "$work/net.py:leaves"
complains "a package that is missing" 1 "package 'no_such_package' is missing" \
    moirai-export -o "$work/x.graphml" "$work/net.py:lacks"
complains "no module and inputs" 1 'must return a module and its inputs' \
    moirai-export -o "$work/x.graphml" "$work/net.py:returns"
complains "no such function" 1 "did you mean 'returns'?" \
    moirai-export -o "$work/x.graphml" "$work/net.py:return"
complains "a number" 1 "'value' is no function or module" \
    moirai-export -o "$work/x.graphml" "$work/net.py:value"
complains "a signal" 1 'net.py:terminated: interrupted' \
    moirai-export -o "$work/x.graphml" "$work/net.py:terminated"
complains "no Python" 1 'line 1: invalid syntax' \
    moirai-export -o "$work/x.graphml" "$work/broken.py:net"

# What is read stays as it is.
cp "$work/net.py" "$work/kept.py"
complains "the source as output" 2 "would replace $work/net.py, which is read" \
    moirai-export -o "$work/../${work##*/}/net.py" "$work/net.py:returns"
ok "a source is as it was" cmp "$work/net.py" "$work/kept.py"
echo program >"$work/net.pt2"
complains "the program as output" 2 "would replace $work/net.pt2, which is" \
    moirai-export -o "$work/net.pt2" "$work/net.pt2"
ln -s net.py "$work/net.bin"
complains "weights in its place" 2 "would replace $work/net.py, which is read" \
    moirai-export -o "$work/net.graphml" "$work/net.py:returns"

mkdir "$work/graph:x"
cd "$work/graph:x" || exit
for file in model weight_meta input_meta; do
    echo 'print("read"); raise ValueError("stop")' >$file.py
done
for source in "$work/graph:x" "$work/graph:x/model.py" model.py; do
    for file in model weight_meta input_meta; do
        complains "$file.py of a captured graph as output" 2 "$file.py, which" \
            moirai-export -o "$work/graph:x/$file.py" "$source"
    done
done
is "all are as they were" "$(cat ./*.py | uniq | wc -l)" 1
cd - >/dev/null || exit

echo 'print("read"); raise ValueError("stop")' >"$work/prints.py"
exits "a source that prints" 1 \
    moirai-export -o "$work/x.graphml" "$work/prints.py:net"
is "not to the output" "$(cat "$work/out")" ""
ok "but as a message" grep -q '^read$' "$work/err"

ok "help" moirai-export --help
ok "the version" moirai-export --version

done_testing
