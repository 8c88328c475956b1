#!/bin/sh
# What Moirai does today, on the graphs beside this script and, where the
# folder MOIRAI_DATA (or ../shared/data) is there, on published networks.
set -eu

cd "$(dirname "$0")/.."
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

# The model, and a solver's own program on it where there is one.
model=$(mktemp -d "${TMPDIR:-/tmp}/moirai-demo.XXXXXX")
trap 'rm -rf "$model"' EXIT
show 'moirai-emit --stats examples/inception.graphml'
show 'moirai-emit --stats --formulation paper examples/inception.graphml'
show "moirai-emit examples/inception.graphml -o $model/model.lp --start $model/start.sol"
for highs in build/python/lib/python3*/site-packages/highsbox/highs_dist; do
    [ ! -x "$highs/bin/highs" ] ||
        LD_LIBRARY_PATH=$PWD/$highs/lib show "$highs/bin/highs \\
    --read_solution_file $model/start.sol $model/model.lp |
    sed -n '/^Solving report/,/Timing/p'"
done

show 'moirai-zoo --list'
show 'moirai-zoo gpt3-330m | moirai-info -'

show 'moirai-zoo gpt3-330m | moirai-coarsen -'

for graph in authors/GoogLeNet.graphml openvino/resnet50.xml; do
    [ ! -r "$data/$graph" ] || show "moirai-info '$data/$graph'"
done
for graph in openvino/resnet50.xml openvino/bert_base_128.xml; do
    [ ! -r "$data/$graph" ] || show "moirai-coarsen '$data/$graph'"
done
