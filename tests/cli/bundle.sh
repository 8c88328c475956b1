#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests of bundles: what is packed, how it is run, and archives that are
# damaged or hostile.
. "${top_srcdir:=.}/tests/support/tap.sh"

unset MOIRAI_CLUSTER MOIRAI_PATH MOIRAI_TRANSPORT
MOIRAI_CUDA=
export MOIRAI_CUDA
work=$(cd "$work" && pwd -P)
cd "$work" || exit 99
mkdir tmp net there
TMPDIR=$work/tmp
export TMPDIR
cp "$top_srcdir"/examples/two_branches/* net
chmod u+w net/*
moirai-place -q --time 5 net/model.xml -o net/model.sol >/dev/null
run="moirai-exec -i $work/net/input0.npy --reference $work/net"

# ways to pack

exits "a bundle" 0 moirai-exec -q --bundle job.tar net/model.sol
is "without a word" "$(cat out err)" ""
is "its members" "$(tar tf job.tar | tr '\n' ' ')" \
    "moirai-bundle.txt model.xml model.sol model.cluster.xml model.bin "
exits "runs" 0 sh -c "cd there && $run ../job.tar"
for suffix in gz zst; do
    if ! moirai-exec -q --bundle job.tar.$suffix net/model.sol 2>err; then
        skip "compressed, $suffix" "built without it"
        continue
    fi
    mv job.tar.$suffix there/unnamed
    exits "compressed, recognized by content, $suffix" 0 \
        sh -c "cd there && $run unnamed"
done
exits "through a pipe" 0 sh -c \
    'moirai-exec --bundle - net/model.sol >piped.tar && cmp piped.tar job.tar'
mkdir again && tar -C again -xf job.tar &&
    tar -C again -cf again.tar . && rm -r again
exits "packed again by tar" 0 sh -c "cd there && $run ../again.tar"
exits "a graph alone" 0 moirai-exec -q --bundle graph.tar net/model.xml
exits "runs, too" 0 sh -c "cd there && $run ../graph.tar"
echo "no cluster" >there/cpu
exits "beside a file that is named as its cluster" 0 \
    sh -c "cd there && $run ../graph.tar && $run ../net/model.xml"
exits "and packed there" 0 sh -c "cd there &&
    moirai-exec -q --bundle - ../net/model.xml | cmp - ../graph.tar"
rm there/cpu
exits "and is described" 0 moirai-info graph.tar
ok "by its members" grep -q '^weights  *model.bin' out
exits "with options of a run" 0 sh -c "cd there &&
    $run --runs 2 --json --trace trace.json --check ../job.tar"
ok "and names without folders" grep -q '"graph": "model.xml"' out

mkdir own
cp net/model.xml own/net.xml
cp net/model.bin own/net.bin
cp net/model.cluster.xml own/devices.xml
printf 'conv relu\n' >own/net.rules
moirai-profile run -q --runs 2 -c own/devices.xml --fusion own/net.rules \
    -o own/times.xml own/net.xml
(cd own && moirai-place -q --time 2 -c devices.xml -p times.xml \
    --fusion net.rules net.xml -o devices.sol >/dev/null)
exits "profile and rules" 0 moirai-exec -q --bundle own.tar own/devices.sol
is "are packed" "$(tar tf own.tar | grep -c 'times.xml\|net.rules')" 2
mv own gone
exits "and found in it" 0 sh -c "cd there && $run ../own.tar"
mv gone own
moirai-profile fit -q "$top_srcdir/examples/bert_large.profile.xml" \
    -o own/fit.xml >/dev/null
(cd own && moirai-place -q --time 2 -c devices.xml \
    --cost roofline:fit.xml net.xml -o fitted.sol >/dev/null)
exits "a cost model is found by its name" 0 \
    sh -c "cd own && moirai-check -q fitted.sol"
exits "and packed" 0 moirai-exec -q --bundle fit.tar own/fitted.sol
is "as a file" "$(tar tf fit.tar | grep -c fit.xml)" 1
mv own gone
exits "for the run" 0 sh -c "cd there && $run ../fit.tar"
mv gone own
(cd own && moirai-check --json devices.sol >place.json)
exits "a placement, whose inputs are given" 0 moirai-exec -q \
    --bundle place.tar -g own/net.xml -c own/devices.xml \
    --fusion own/net.rules own/place.json
mv own gone
exits "needs no option later" 0 sh -c "cd there && $run ../place.tar"
mv gone own

# weights that stay outside

exits "digests of weights" 0 moirai-exec -q --bundle-weights digest \
    --bundle small.tar net/model.sol
ok "are small" test "$(wc -c <small.tar)" -lt "$(wc -c <net/model.bin)"
complains "which are missing" 1 "are missing here: model.bin (" \
    sh -c "cd there && moirai-exec ../small.tar"
exits "may be random" 0 sh -c "cd there &&
    moirai-exec --random-weights 1 ../small.tar"
mkdir store && cp net/model.bin store/blob-17
exits "are found by digest" 0 sh -c "cd there && MOIRAI_PATH=../store $run \
    ../small.tar"
printf x | dd of=store/blob-17 conv=notrunc bs=1 seek=5 2>/dev/null
complains "and must be the same" 1 "are missing here: model.bin (" sh -c \
    "cd there && MOIRAI_PATH=../store moirai-exec ../small.tar"
mv net/model.bin model.bin
complains "weights that are not there" 1 "its weights are missing: net/model.bin" \
    moirai-exec --bundle no.tar net/model.sol
ok "pack nothing" test ! -e no.tar
mv model.bin net/model.bin

# usage

exits "an invalid solution" 4 sh -c \
    "sed 's/^w .*/w 1/; s/value = .*/value = 1/' net/model.sol >net/bad.sol
    moirai-exec --bundle bad.tar net/bad.sol"
ok "is not packed" test ! -e bad.tar
complains "over an input" 2 "--bundle" \
    moirai-exec --bundle net/model.bin net/model.sol
ok "which stays" cmp net/model.bin "$top_srcdir/examples/two_branches/model.bin"
complains "a bundle of a bundle" 2 "is a bundle already" \
    moirai-exec --bundle two.tar job.tar
complains "how, but not what" 2 "goes with --bundle" \
    moirai-exec --bundle-weights digest net/model.sol
complains "standard input" 2 "not standard input" sh -c \
    'moirai-exec --bundle x.tar -g net/model.xml -c net/model.cluster.xml - \
        <net/model.sol'

# damaged and hostile

head -c 9000 job.tar >cut.tar
complains "a cut archive" 1 "the archive was cut off" moirai-exec cut.tar
# Single bytes of a bundle and of an ONNX model decide what a file is.
cp job.tar flipped
printf '\177' | dd of=flipped conv=notrunc bs=1 seek=258 2>/dev/null
complains "a bundle with a wrong byte" 1 "the file may be damaged" \
    moirai-exec flipped
cp "$top_srcdir/examples/residual/model.onnx" wrong.onnx
chmod u+w wrong.onnx
printf '\177' | dd of=wrong.onnx conv=notrunc bs=1 2>/dev/null
complains "a model with a wrong byte" 1 "the file may be damaged" \
    moirai-exec wrong.onnx
printf '\010\010\022' >short.onnx
complains "three bytes of a model" 1 "the file may be damaged" \
    moirai-exec short.onnx
mkdir evil && cd evil || exit 99
tar -xf ../job.tar
echo stolen >../target
pack()
{
    tar --owner=0 --group=0 -cf ../evil.tar "$@"
}
pack model.xml
complains "no list" 1 "without moirai-bundle.txt" moirai-exec ../evil.tar
ln -s ../target link
pack moirai-bundle.txt model.xml link
complains "a link" 1 "is a link or a device" moirai-exec ../evil.tar
pack -P --transform 's|model.sol|../../target|' moirai-bundle.txt model.*
complains "a path that leads out" 1 "is not a plain name" moirai-exec ../evil.tar
pack -P --transform "s|model.sol|$work/target|" moirai-bundle.txt model.*
complains "an absolute path" 1 "is not a plain name" moirai-exec ../evil.tar
pack moirai-bundle.txt model.* && tar -rf ../evil.tar model.xml
complains "a member twice" 1 "is there twice" moirai-exec ../evil.tar
listed()
{
    { echo "moirai-bundle 2" && printf '%s\n' "$@"; } >moirai-bundle.txt
    pack moirai-bundle.txt model.*
}
listed "graph model.xml" "solution none.sol"
complains "a member that is not there" 1 "does not contain it" \
    moirai-exec ../evil.tar
listed "graph ../target"
complains "a path in the list" 1 "does not contain it" moirai-exec ../evil.tar
listed "graph model.xml" "cluster-name /etc/passwd"
complains "a file instead of a name" 1 "is a file" moirai-exec ../evil.tar
cp ../net/model.cluster.xml near.xml 2>/dev/null || echo '<cluster/>' >near.xml
for line in "cluster-name near.xml" "fusion-name near.xml" "cluster-name -"; do
    listed "graph model.xml" "$line"
    complains "a file beside the bundle: $line" 1 "is a file" \
        moirai-exec ../evil.tar
done
listed "graph model.xml" "weights 0123 5 model.bin"
complains "weights without a digest" 1 "DIGEST BYTES NAME" \
    moirai-exec ../evil.tar
listed "graph model.xml" "weights 0123456789abcdef 5 model.bin" \
    "packed model.bin"
complains "weights of another size" 1 "does not contain in that size" \
    moirai-exec ../evil.tar
size=$(wc -c <model.bin)
listed "graph model.xml" "weights 0123456789abcdef $((size)) model.bin" \
    "packed model.bin"
complains "weights of another digest" 1 "not those that were packed" \
    moirai-exec ../evil.tar
listed "graph model.xml" "graph model.xml"
complains "two graphs" 1 "second input" moirai-exec ../evil.tar
listed "solution model.sol"
complains "no graph" 1 "lists no graph" moirai-exec ../evil.tar
listed "graph model.xml" "later thing"
complains "a line of a later version" 1 "does not know" moirai-exec ../evil.tar
echo "moirai-bundle 3" >moirai-bundle.txt
pack moirai-bundle.txt model.*
complains "a later version" 1 "not 'moirai-bundle 2'" moirai-info ../evil.tar
cd ..
is "nothing was written outside" "$(cat target)" stolen
printf 'no tar at all' | gzip >plain.gz
exits "a compressed file that is no archive" 1 moirai-exec plain.gz

# nothing remains

is "no folder is left" "$(ls -A tmp)" ""
for signal in TERM HUP; do
    env --default-signal=$signal moirai-exec --runs 1000000 job.tar >/dev/null 2>&1 &
    pid=$!
    tries=0
    until [ "$(find tmp -type f | wc -l)" -ge 3 ] || [ $tries -gt 200 ]; do
        sleep 0.05
        tries=$((tries + 1))
    done
    ok "a run" kill -s $signal $pid
    wait $pid 2>/dev/null
    is "nor after SIG$signal" "$(ls -A tmp)" ""
done

if command -v mpirun >/dev/null 2>&1 && moirai-exec --version | grep -q MPI; then
    exits "by ranks" 0 sh -c "cd there && mpirun --allow-run-as-root \
        --oversubscribe -n 2 $run ../job.tar"
else
    skip "by ranks" "there is no MPI"
fi
is "each of which clears up" "$(find tmp -name 'moirai*')" ""

done_testing
