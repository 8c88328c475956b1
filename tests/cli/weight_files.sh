#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests of weight files: which folders they are read from, and files that are
# cut or rewritten while a network runs.
. "${top_srcdir:=.}/tests/support/tap.sh"

unset MOIRAI_CLUSTER MOIRAI_PATH MOIRAI_TRANSPORT
MOIRAI_CUDA=
export MOIRAI_CUDA
work=$(cd "$work" && pwd -P)
cd "$work" || exit 99
mkdir net net/part secret blobs elsewhere
printf 'root:a-secret-of-48-bytes-that-no-output-may-hold' | head -c 48 \
    >secret/shadow
cp secret/shadow net/inside
cp secret/shadow net/part/below
cp secret/shadow blobs/blob
ln -s ../../secret/shadow net/part/link
ln -s ../blobs net/linked

# Writes net/$1.graphml, whose only constant is in the file $2.
graph()
{
    cat >"net/$1.graphml" <<-EOF
	<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
	<key id="t" for="node" attr.name="type" attr.type="string"/>
	<key id="s" for="node" attr.name="shape" attr.type="string"/>
	<key id="d" for="node" attr.name="dtype" attr.type="string"/>
	<key id="w" for="node" attr.name="weights" attr.type="string"/>
	<key id="c" for="node" attr.name="constant" attr.type="boolean"/>
	<graph edgedefault="directed">
	<node id="k"><data key="t">Const</data><data key="c">true</data>
	<data key="s">48</data><data key="d">u8</data>
	<data key="w">$2:0:48:u8:48</data></node>
	<node id="r"><data key="t">Convert</data><data key="s">48</data>
	<data key="d">u8</data></node>
	<edge source="k" target="r"/></graph></graphml>
	EOF
}

# folders

for name in inside part/below ./part/../inside "$work/net/inside" \
    "$work/net/part/../../net/part/below"; do
    graph inner "$name"
    rm -rf results
    exits "weights in $name" 0 moirai-exec -q -o results net/inner.graphml
    ok "... are read" grep -q a-secret results/output0.npy
done
exits "from the graph's folder" 0 \
    sh -c 'cd net && moirai-exec -q inner.graphml'
rm -rf results
for name in "$work/secret/shadow" ../secret/shadow part/../../secret/shadow \
    part/link "$work/net/part/link"; do
    graph outer "$name"
    complains "weights in $name" 1 \
        "net/outer.graphml:8: weights of 'k' are in $work/secret/shadow, outside of the graph's folder: give --weights-from $work/secret" \
        moirai-exec -q -o results net/outer.graphml
    complains "$name, random" 1 "--weights-from" \
        moirai-exec -q --random-weights 1 -o results net/outer.graphml
    complains "$name, profile" 1 "--weights-from" \
        moirai-profile run -q net/outer.graphml -o /dev/null
    complains "$name, bundle" 1 "--weights-from" \
        moirai-exec -q --bundle job.tar net/outer.graphml
    complains "$name, other folder" 1 "--weights-from" \
        moirai-exec -q --weights-from elsewhere --weights-from "$work/secre" \
        -o results net/outer.graphml
done
ok "no output, no bundle" test ! -e results -a ! -e job.tar
exits "a folder that is allowed" 0 moirai-exec -q --weights-from elsewhere \
    --weights-from secret -o results net/outer.graphml
ok "... is read" grep -q a-secret results/output0.npy
graph linked linked/blob
complains "a link to a folder" 1 "give --weights-from $work/blobs" \
    moirai-exec -q net/linked.graphml
exits "that is allowed" 0 moirai-exec -q --weights-from "$work/blobs" \
    net/linked.graphml
exits "profiled" 0 moirai-profile run -q --runs 1 --weights-from blobs \
    net/linked.graphml -o profile.xml
exits "packed" 0 moirai-exec -q --weights-from blobs --bundle job.tar \
    net/linked.graphml
exits "and run from the bundle" 0 moirai-exec -q -o from_bundle job.tar
ok "with its weights" grep -q a-secret from_bundle/output0.npy

# bundles have no weights but their own

graph outer "$work/secret/shadow"
cp net/outer.graphml bad.graphml
printf 'moirai-bundle 2\ngraph bad.graphml\ncluster-name cpu\n' \
    >moirai-bundle.txt
tar -cf bad.tar moirai-bundle.txt bad.graphml
complains "a bundle that names a file of the host" 1 \
    "bad.tar:bad.graphml:8: weights of 'k' are in $work/secret/shadow, which the bundle does not contain" \
    moirai-exec -q --weights-from secret bad.tar
echo '<graphml>' >bad.graphml
tar -cf bad.tar moirai-bundle.txt bad.graphml
complains "an error of a member" 1 "moirai-exec: bad.tar:bad.graphml:" \
    moirai-exec -q bad.tar

# One byte of large weights, between the samples of a digest.
cp "$top_srcdir"/examples/two_branches/model.* net
chmod u+w net/model.*
head -c 3000000 /dev/zero >>net/model.bin
exits "large weights are packed" 0 moirai-exec -q --bundle job.tar net/model.xml
at=$(($(wc -c <job.tar) - 12345))
printf x | dd of=job.tar bs=1 seek=$at conv=notrunc 2>err
complains "a changed byte" 1 "digest differs" moirai-exec -q job.tar

# files that are cut while the network runs

cp "$top_srcdir"/examples/two_branches/model.bin whole.bin
cp whole.bin net/model.bin
moirai-exec -q -o whole net/model.xml >/dev/null
size=$(wc -c <whole.bin)
i=0 failures=0
while [ $i -lt "$(cases 10 10 200)" ]; do
    i=$((i + 1))
    cp whole.bin net/model.bin
    rm -rf results
    moirai-exec -q --runs 300 -o results net/model.xml >out 2>err &
    pid=$!
    sleep "0.$((i * 7919 % 10))$((i * 104729 % 10))"
    truncate -s $((size * (i % 3) / 4)) net/model.bin
    status=0
    wait $pid || status=$?
    if [ $status -eq 0 ]; then
        cmp -s results/output0.npy whole/output0.npy && continue
    elif [ $status -eq 1 ] && [ ! -e results/output0.npy ] &&
        [ "$(wc -l <err)" -eq 1 ] && grep -q "model.bin: " err; then
        continue
    fi
    echo "cut $i: exit $status" | comment
    comment <err
    failures=$((failures + 1))
done
is "a cut file ends a run in one line, or changes nothing" $failures 0
# and rewritten, with the same size, while requests run

cp whole.bin net/model.bin
rm -rf results
input=$top_srcdir/examples/two_branches/input0.npy
moirai-exec -q -i "$input" -o whole net/model.xml >/dev/null
moirai-exec -q -i "$input" --requests 3000 --in-flight 2 -o results \
    net/model.xml >out 2>err &
pid=$!
while [ ! -e results/0020 ] && kill -0 $pid; do
    sleep 0.01
done
tr 'a-z' 'A-Z' <whole.bin | dd of=net/model.bin conv=notrunc 2>dd.err
status=0
wait $pid || status=$?
is "rewritten weights end a stream" $status 1
ok "... in one line" grep -q "model.bin: was cut or rewritten" err
ok "... that has the number of completed requests" \
    grep -q "of .* requests were completed before" err
failures=0
for file in results/*/output0.npy; do
    cmp -s "$file" whole/output0.npy || failures=$((failures + 1))
done
is "and all outputs are of the whole weights" $failures 0
done_testing
