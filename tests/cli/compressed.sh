#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers
# Tests of .gz and .zst: what a command writes, every command reads, wherever
# files are named; the results are those of the unpacked file.
. "${top_srcdir:=.}/tests/support/tap.sh"

cd "$work" || exit 99
for file in inception.graphml inception.cluster.xml tiny_ir.xml; do
    cp "$top_srcdir/examples/$file" .
done
printf 'MatMul Add\n' >pairs.rules
has_highs()
{
    moirai-solve --list | grep -q '^highs  *[0-9]'
}

# same NAME FILE COMMAND...: COMMAND prints what is in FILE but for the names of
# files.
same()
{
    name=$1 wanted=$2
    shift 2
    "$@" >"$work/got" 2>"$work/err"
    sed 's/\.\(gz\|zst\)//g' "$work/got" | cmp -s - "$wanted" ||
        sed 's/^/# /' "$work/err"
    ok "$name" sh -c 'sed "s/\.\(gz\|zst\)//g" "$1" | cmp - "$2"' - \
        "$work/got" "$wanted"
}

moirai-info --json inception.graphml >info.json
moirai-info --json tiny_ir.xml >ir.json
moirai-coarsen -q --fusion pairs.rules inception.graphml >coarse.graphml
moirai-info -q --instance --json inception.graphml >instance.json
for z in gz zst; do
    case $z in gz) pack='gzip -nc' ;; zst) pack='zstd -qc' ;; esac
    command -v "${pack%% *}" >/dev/null ||
        { skip "$z" "no ${pack%% *}"; continue; }
    mkdir "$z"
    for file in inception.graphml inception.cluster.xml tiny_ir.xml \
        pairs.rules; do
        $pack "$file" >"$z/$file.$z"
    done
    if moirai-info "$z/inception.graphml.$z" 2>&1 | grep -q 'this build has'; then
        skip "$z" "not built in"
        continue
    fi
    (
        cd "$z" || exit 99
        $pack ../inception.cluster.xml >inception.cluster.xml
    )
    cd "$z" || exit 99
    same "$z: GraphML, and its digest" ../info.json \
        moirai-info --json "inception.graphml.$z"
    same "$z: OpenVINO" ../ir.json moirai-info --json "tiny_ir.xml.$z"
    same "$z: the cluster beside the graph" ../instance.json \
        moirai-info -q --instance --json "inception.graphml.$z"
    same "$z: fusion rules" ../coarse.graphml moirai-coarsen -q \
        --fusion "pairs.rules.$z" "inception.graphml.$z"
    exits "$z: a graph from standard input" 0 sh -c \
        'moirai-info - <"$1"' - "inception.graphml.$z"
    exits "$z: moirai-zoo writes" 0 moirai-zoo gpt3-330m -o "zoo.graphml.$z"
    exits "$z: moirai-info reads" 0 moirai-info "zoo.graphml.$z"
    exits "$z: moirai-coarsen writes" 0 \
        moirai-coarsen -q "zoo.graphml.$z" -o "coarse.graphml.$z"
    exits "$z: moirai-place reads" 0 moirai-place -q --method heft \
        -c "inception.cluster.xml.$z" "inception.graphml.$z" -o placed.sol
    $pack placed.sol >"placed.sol.$z"
    exits "$z: moirai-check reads a solution" 0 moirai-check "placed.sol.$z"
    exits "$z: from standard input" 0 sh -c \
        'moirai-check -g "$1" - <"$2"' - "inception.graphml.$z" "placed.sol.$z"
    exits "$z: moirai-emit writes model and start" 0 moirai-emit -q \
        "inception.graphml.$z" -o "model.lp.$z" --start "start.sol.$z"
    if has_highs; then
        exits "$z: moirai-solve reads both" 0 moirai-solve -q --solver highs \
            --start "start.sol.$z" "model.lp.$z" -o answer.sol
        exits "$z: by the program" 0 moirai-solve -q --solver highs \
            --via process "model.lp.$z" -o answer.sol
        exits "$z: a model from standard input" 0 sh -c \
            'moirai-solve -q --solver highs -o answer.sol - <"$1"' - \
            "model.lp.$z"
    fi
    size=$(wc -c <"inception.graphml.$z")
    head -c $((size - 9)) "inception.graphml.$z" >cut.graphml
    complains "$z: a file cut off" 1 'ends too early' moirai-info cut.graphml
    head -c $((size / 2)) "model.lp.$z" >cut.lp
    complains "$z: a model cut off" 1 'ends too early' moirai-solve cut.lp
    complains "$z: a limit of one's own" 1 'more than 1 MiB' \
        env MOIRAI_INPUT_MIB=1 moirai-info "zoo.graphml.$z"
    cd ..
done

printf '\3757zXZ\0rest' >x.graphml.xz
complains "xz is refused" 1 'compressed with xz; unpack it first (unxz)' \
    moirai-info x.graphml.xz
cp x.graphml.xz x.sol
complains "as a solution, too" 1 'compressed with xz; unpack it first' \
    moirai-check x.sol

if [ -f zst/placed.sol ]; then
    printf 'P*M\030\004\000\000\000skip' |
        cat - zst/inception.graphml.zst >skipped.graphml.zst
    same "zst: behind a frame to skip" info.json \
        sh -c 'moirai-info --json "$1" | sed s/skipped/inception/' - \
        skipped.graphml.zst
fi
moirai-emit -q inception.graphml -o model.lp
gzip -c model.lp | gzip -c >twice.lp.gz
complains "a model compressed twice" 1 'twice.lp.gz: is neither an LP nor' \
    moirai-solve -q twice.lp.gz
complains "from standard input, too" 1 'moirai-solve: <stdin>: is neither an LP' \
    sh -c 'moirai-solve -q - <twice.lp.gz'
complains "what is no model there" 1 'moirai-solve: <stdin>: is neither an LP' \
    sh -c 'moirai-solve -q - <inception.graphml'

# Weights are read in place.
mkdir weights
cp -r "$top_srcdir/examples/two_branches/." weights/
cd weights || exit 99
gzip -f model.bin
complains "compressed weights" 1 'unpack it first (gunzip' \
    moirai-exec -q -c model.cluster.xml model.xml

done_testing
