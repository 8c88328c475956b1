#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers
# The whole pipeline on two hosts: a network is exported from its framework and
# emitted here, solved on a host that has the model file only, and the solution
# is copied back and run.
. "${top_srcdir:=.}/tests/support/tap.sh"

unset MOIRAI_CLUSTER MOIRAI_PATH MOIRAI_TRANSPORT
moirai-solve --list >"$work/solvers" 2>/dev/null ||
    skip_all "no solver can be listed"
mkdir "$work/home" "$work/host"
cp "$top_srcdir"/examples/two_branches/* "$work/home"
chmod u+w "$work"/home/*

# Runs a command as on another host: it has the model file and the solvers, but
# no file of ours.
on_the_host()
{
    (cd "$work/host" && env -i PATH="$PATH" HOME="$work/host" \
        MOIRAI_HIGHS_LIB="${MOIRAI_HIGHS_LIB-}" \
        ASAN_OPTIONS="${ASAN_OPTIONS-}" "$@")
}

# Emits with these options, solves on the other host, runs the solution here.
graph=model.xml
way()
{
    file=$1
    shift
    (cd "$work/home" && moirai-emit -q "$@" "$graph" -o "$file") &&
        mv "$work/home/$file" "$work/host" &&
        [ "$(ls "$work/host")" = "$file" ] &&
        on_the_host moirai-solve -q --time 60 "$file" -o answer.sol &&
        mv "$work/host/answer.sol" "$work/home" && rm "$work/host/$file" &&
        (cd "$work/home" && moirai-exec --json -i input0.npy --reference . \
            --check answer.sol)
}

exits "a model as LP" 0 way model.lp
ok "on both devices" grep -q '"transfers": [1-9]' "$work/out"
is "the other host keeps nothing" "$(ls "$work/host")" ""
exits "as MPS, compressed" 0 way model.mps.gz
exits "coarsened, tensors sent once" 0 \
    way model.lp --fusion default --tensors once
exits "links that congest, memory by the moment" 0 \
    way model.lp --fusion default --congestion link --memory live
exits "the paper's model" 0 way model.lp --fusion default --formulation paper
(cd "$work/home" && moirai-profile run -q --runs 5 -c model.cluster.xml \
    --fusion default -o model.profile.xml model.xml)
exits "by times that were measured" 0 \
    way model.lp --fusion default -p model.profile.xml
sed 's/gflops="40"/gflops="41"/' "$work/home/model.cluster.xml" \
    >"$work/other.xml" && mv "$work/other.xml" "$work/home/model.cluster.xml"
exits "a cluster that is not what it was" 1 \
    sh -c "cd '$work/home' && moirai-exec answer.sol"
ok "is missed" grep -q 'missing here: cluster model.cluster.xml (' \
    "$work/err"

# An ONNX network, by its graph and weights alone.
rm -r "${work:?}/home"
mkdir "$work/home"
cp "$top_srcdir"/examples/residual/* "$work/home"
chmod u+w "$work"/home/*
graph=model.onnx
if moirai-info "$work/home/model.onnx" 2>&1 | grep -q 'has no nanopb'; then
    skip "a framework's model" "there is no nanopb"
else
    exits "goes the same way" 0 way model.lp
    ok "over both devices" grep -q '"transfers": [1-9]' "$work/out"
    exits "and coarsened" 0 way model.mps --fusion default
fi

done_testing
