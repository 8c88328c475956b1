#!/bin/sh
# What Moirai does today, on the graphs beside this script and, where the
# folder MOIRAI_DATA (or ../shared/data) is there, on real networks.
set -eu

top=$(cd "$(dirname "$0")/.." && pwd)
data=${MOIRAI_DATA:-$top/../shared/data}
work=$(mktemp -d "${TMPDIR:-/tmp}/moirai-demo.XXXXXX")
trap 'rm -rf "$work"' EXIT
PATH=${top_builddir:-$top}:$PATH

show()
{
    echo "\$ $*"
    "$@"
    echo
}

cd "$top"
show moirai-info examples/inception.graphml
show moirai-info examples/tiny_ir.xml

show moirai-zoo --list
show moirai-zoo gpt3-330m -o "$work/gpt3-330m.graphml"
show moirai-info "$work/gpt3-330m.graphml"

for graph in authors/GoogLeNet.graphml openvino/resnet50.xml; do
    [ ! -r "$data/$graph" ] || show moirai-info "$data/$graph"
done
