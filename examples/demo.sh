#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What Moirai does today, on the graphs beside this script and, where the
# folder MOIRAI_DATA (or ../shared/data) is there, on published networks.
set -eu

cd "$(dirname "$0")/.."
mkdir -p build
PATH=${top_builddir:-$PWD}:$PATH
data=${MOIRAI_DATA:-../shared/data}

show()
{
    echo "\$ $1"
    eval "$1"
    echo
}

show 'moirai-info examples/inception.graphml'
show 'moirai-info --instance examples/inception.graphml'
show 'moirai-info examples/tiny_ir.xml'

# The model, solved and checked; graphs and clusters are found by this path.
MOIRAI_PATH=$PWD/examples:$data/authors
export MOIRAI_PATH
model=$(mktemp -d "${TMPDIR:-/tmp}/moirai-demo.XXXXXX")
trap 'rm -rf "$model"' EXIT
show 'moirai-emit --stats examples/inception.graphml'
show 'moirai-emit --stats --formulation paper examples/inception.graphml'
show "moirai-emit examples/inception.graphml -o $model/model.lp --start $model/start.sol"
show 'moirai-solve --list'
show "moirai-solve $model/model.lp --start $model/start.sol -o $model/highs.sol"
moirai-solve --list | grep -q '^scip *not found' ||
    show "moirai-solve --solver scip $model/model.lp -o $model/scip.sol"
show "moirai-check $model/highs.sol"
show 'moirai examples/inception.graphml'

# Placed without a model: every method, and the best of them checked.
show "moirai-place --method all --time 10 examples/inception.graphml \\
    -o $model/best.sol && moirai-check $model/best.sol"
show 'moirai-place --time 10 --ablation examples/inception.graphml'

# Many requests in flight: the least time between two of them, simulated.
show "moirai-place --objective period --time 10 examples/inception.graphml \\
    -o $model/many.sol && moirai-check $model/many.sol"

# A published network: emit, solve with the embedded solver and with SCIP, check.
net=$data/authors/GoogLeNet.graphml
if [ -r "$net" ]; then
    show "moirai-emit '$net' -o $model/net.lp --start $model/net.start.sol"
    for solver in highs scip; do
        moirai-solve --list | grep -q "^$solver *not found" ||
            show "moirai-solve --solver $solver --time 10 \\
    --start $model/net.start.sol $model/net.lp -o $model/$solver.sol &&
    moirai-check $model/$solver.sol"
    done
fi

# The same network, placed and proven.
[ ! -r "$net" ] ||
    show "moirai-place --time 20 --tensors once '$net' -o $model/placed.sol &&
    moirai-check $model/placed.sol"

show 'moirai-zoo --list'
show 'moirai-zoo gpt3-330m | moirai-info -'
# A network too large for any model.
show 'moirai-zoo gpt3-330m | moirai-place -c inter-server --tensors once \
    --time 10 -'

show 'moirai-zoo gpt3-330m | moirai-coarsen -'

for graph in authors/GoogLeNet.graphml openvino/resnet50.xml; do
    [ ! -r "$data/$graph" ] || show "moirai-info '$data/$graph'"
done
for graph in openvino/resnet50.xml openvino/bert_base_128.xml; do
    [ ! -r "$data/$graph" ] || show "moirai-coarsen '$data/$graph'"
done

# From a framework's model to its outputs: emit, solve, check, and run on two
# devices, which are threads of this machine.
MOIRAI_PATH=$MOIRAI_PATH:$PWD/examples/two_branches
show 'moirai-info examples/two_branches/model.xml'
show "moirai-emit examples/two_branches/model.xml -o $model/two.lp"
show "moirai-solve $model/two.lp -o $model/two.sol"
show "moirai-check $model/two.sol"
show "moirai-exec --input examples/two_branches/input0.npy --runs 10 \\
    --reference examples/two_branches $model/two.sol"

# The same with measured times.
show "moirai-profile run -c examples/two_branches/model.cluster.xml \\
    -o $model/two.profile.xml examples/two_branches/model.xml"
show "moirai-place -p $model/two.profile.xml examples/two_branches/model.xml \\
    -o $model/measured.sol && moirai-exec --runs 10 \\
    --input examples/two_branches/input0.npy \\
    --reference examples/two_branches $model/measured.sol"

# What it looks like: a timeline here, and a page for a browser.
show "moirai-report $model/measured.sol"
show "moirai-report $model/measured.sol -o build/demo-report.html"
echo 'Open build/demo-report.html in a browser.'
