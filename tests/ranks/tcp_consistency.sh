#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Ranks with different inputs: each would run its part of another network.  All
# of them report soon which rank it is, and there is no output.
. "${top_srcdir:=.}/tests/support/tap.sh"
. "$top_srcdir/tests/ranks/ranks.sh"

unset MOIRAI_CLUSTER MOIRAI_PATH
command -v timeout >/dev/null || skip_all "there is no timeout"
folder=$top_srcdir/examples/two_branches
net=$folder/model.xml
# Test machines may be slow.
MOIRAI_PATIENCE=20
export MOIRAI_PATIENCE

# Two devices of the ranks $1 and $2.
cluster()
{
    echo '<cluster>'
    for id in A B; do
        echo "<device id='$id' kind='cpu' gflops='100' threads='1'" \
            "memory_bandwidth_gbs='20' rank='$1'/>"
        shift
    done
    echo "<link between='A B' gbps='100' latency_us='2'/></cluster>"
}

# Ops on both alternately, starting with the first argument.
place()
{
    sed -n 's/.*<layer id="[0-9]*" name="\([^"]*\)" type="\([^"]*\)".*/\1 \2/p' \
        "$net" | awk -v first="$1" -v second="$2" \
        '$2 != "Const" { print $1, n++ % 2 ? second : first }'
}

cluster 0 1 >"$work/cluster.xml"
cluster 1 0 >"$work/turned.xml"
cluster 0 0 >"$work/first.xml"
place A B >"$work/placement"
place B A >"$work/other"
mkdir "$work/trained" "$work/changed" "$work/bare"
cp "$net" "$work/trained"
sed 's/type="ReLU"/type="Tanh"/' "$net" >"$work/changed/model.xml"
cp "$net" "$work/bare"
cp "$folder/model.bin" "$work/changed"
# The same size, and a single byte that differs.
{
    head -c 2000 "$folder/model.bin"
    printf '\001'
    tail -c +2002 "$folder/model.bin"
} >"$work/trained/model.bin"
{
    head -c 600 "$folder/input0.npy"
    printf '\001'
    tail -c +602 "$folder/input0.npy"
} >"$work/input.npy"

# One rank: its number, then its own arguments.
rank()
{
    rank_number=$1
    shift
    timeout -k 1 60 moirai-exec --transport tcp --rank "$rank_number" \
        --ranks 2 --master "127.0.0.1:$port" -q -o "$work/put" "$@" \
        >"$work/out.$rank_number" 2>"$work/err.$rank_number" </dev/null
}

# Arguments of rank 0, "|", arguments of rank 1; each is the last of its kind.
two()
{
    next_port
    rm -rf "$work/put"
    set -- "$@" "|"
    first=
    while [ "$1" != "|" ]; do
        first="$first $1"
        shift
    done
    shift
    second=
    while [ "$1" != "|" ]; do
        second="$second $1"
        shift
    done
    # Arguments are words.
    # shellcheck disable=SC2086
    rank 0 $first &
    two_pid=$!
    two_status=0
    # shellcheck disable=SC2086
    rank 1 $second || two_status=$?
    ranks_wait $two_pid
}

g="-g $net"
c="-c $work/cluster.xml"
i="-i $folder/input0.npy"
p=$work/placement

# Claim: both ranks fail, with errors that name rank 1.
differ()
{
    claim=$1
    text=$2
    shift 2
    two "$@"
    is "$claim" "$status $two_status $(ls "$work/put" 2>/dev/null)" "1 1 "
    ok "$claim: both report it in a line" test "$(grep -c "$text" \
        "$work/err.0" "$work/err.1" | tr '\n' ' ')" = \
        "$work/err.0:1 $work/err.1:1 "
}

plan='rank 1 .*has made another plan than rank 0'
# Arguments are words.
# shellcheck disable=SC2086
{
    two $g $c $i $p "|" $g $c $i $p
    is "the same" "$status $two_status" "0 0"
    ok "puts out what it should" test -s "$work/put/output0.npy"
    two $g $c --check $i $p "|" $g $c $i $p
    is "only the first compares" "$status $two_status" "0 0"
    differ "another placement" "$plan" $g $c $i $p "|" $g $c $i "$work/other"
    differ "devices of other ranks" "$plan" \
        $g $c $i $p "|" $g -c "$work/turned.xml" $i $p
    differ "a rank with an empty plan" "$plan" \
        $g -c "$work/first.xml" $i $p "|" $g $c $i $p
    differ "another operator" "$plan" \
        $g $c $i $p "|" -g "$work/changed/model.xml" $c $i $p
    differ "other weights" "$plan" \
        $g $c $i $p "|" -g "$work/trained/model.xml" $c $i $p
    differ "other weights that are made up" "$plan" \
        -g "$work/bare/model.xml" --random-weights 1 $c $i $p "|" \
        -g "$work/bare/model.xml" --random-weights 2 $c $i $p
    differ "another seed" "$plan" $g $c $p "|" $g $c --seed 1 $p
    differ "another precision" "$plan" \
        $g $c $i $p "|" $g $c $i --precision tf32 $p
    differ "another input" "rank 1 was given another value of input 'image'" \
        $g $c $i $p "|" $g $c -i "$work/input.npy" $p
}

# Output must not go into the connections, which would get the numbers of
# closed standard files.
run_closed()
{
    timeout -k 1 60 moirai-exec --transport tcp --rank "$1" --ranks 2 -v \
        --master "127.0.0.1:$port" -o "$work/closed" -g "$net" \
        --report "$2" -c "$work/cluster.xml" \
        -i "$folder/input0.npy" "$p" >&- 2>&- <&-
}

# Claim, the statuses of both, where the report goes.
both_closed()
{
    next_port
    run_closed 0 "$3" &
    two_pid=$!
    two_status=0
    run_closed 1 "$3" || two_status=$?
    ranks_wait $two_pid
    is "$1" "$status $two_status" "$2"
}
both_closed "ranks with closed standard files" "0 0" "$work/report"
both_closed "cannot report to standard output" "1 1" -
done_testing
