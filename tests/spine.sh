#!/bin/sh
# The whole way, as a user goes it: a framework's model is exported and its
# placement emitted here, solved on another host that gets nothing but the model
# file, and executed here from the solution alone.
. "${top_srcdir:=.}/tests/tap.sh"

unset MOIRAI_CLUSTER MOIRAI_PATH MOIRAI_TRANSPORT
python=${MOIRAI_PYTHON:-python3}
"$python" -c 'import onnx' 2>/dev/null ||
    skip_all "Python's package onnx is not installed"
solve=$(command -v moirai-solve)
solver=
for name in highs scip cbc; do
    moirai-solve --list | grep -q "^$name *not found" || {
        solver=$name
        break
    }
done
[ -n "$solver" ] || skip_all "there is no solver"

here=$work/here
there=$work/there
mkdir "$here" "$there"

# Another host: an empty environment, a folder with the model file and nothing
# else.
on_another_host()
{
    (cd "$there" && env -i PATH="$PATH" HOME="$there" \
        MOIRAI_HIGHS_LIB="${MOIRAI_HIGHS_LIB-}" "$@")
}

# go FOLDER NAME LIMIT: FOLDER has the ONNX model, inputs and outputs.
go()
{
    rm -rf "$here" "$there"
    mkdir "$here" "$there"
    cp "$top_srcdir/examples/residual/model.cluster.xml" "$here/net.cluster.xml"
    exits "$2: exported" 0 moirai-export -q "$1/model.onnx" \
        -o "$here/net.graphml"
    exits "$2: emitted" 0 moirai-emit -q "$here/net.graphml" \
        -o "$here/net.lp" --start "$here/net.start"
    cp "$here/net.lp" "$there/model.lp"
    is "$2: another host has the model alone" "$(ls "$there")" model.lp
    exits "$2: solved there" 0 on_another_host "$solve" -q --solver "$solver" \
        --time "$3" model.lp -o answer.sol
    cp "$there/answer.sol" "$here/net.sol"
    rm -rf "$there"
    exits "$2: executed here" 0 moirai-exec -i "0=$1/input0.npy" --check \
        --reference "$1" "$here/net.sol"
    ok "$2: what comes out is the framework's" \
        grep -q "^equal to $1" "$work/out"
}

go "$top_srcdir/examples/residual" residual 60

done_testing
