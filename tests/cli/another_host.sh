#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers
# Three folders that share nothing: a model is emitted in one, solved by a bare
# solver in another, packed in the first, and run in a third as another user.
# What a solution is of is in the file itself, and what is missing is told.
. "${top_srcdir:=.}/tests/support/tap.sh"

unset MOIRAI_CLUSTER MOIRAI_PATH MOIRAI_TRANSPORT
MOIRAI_CUDA=
export MOIRAI_CUDA
work=$(cd "$work" && pwd -P)
chmod 755 "$work"
mkdir "$work/tmp" "$work/emit" "$work/solve" "$work/run" "$work/empty"
chmod 1777 "$work/tmp"
TMPDIR=$work/tmp
export TMPDIR
cp "$top_srcdir"/examples/two_branches/model.* "$work/emit"
chmod u+w "$work"/emit/*
python=${MOIRAI_PYTHON:-python3}

is_json()
{
    "$python" -c 'import json,sys; json.load(open(sys.argv[1]))' "$1"
}

# Runs a command in a folder.
in_folder()
{
    (cd "$work/$1" && shift && "$@")
}

# emit here, solve there

exits "a model" 0 in_folder emit moirai-emit -q model.xml -o model.lp
mv "$work/emit/model.lp" "$work/solve"
highs=$(moirai-solve --list 2>/dev/null |
    sed -n '/^highs/,/^[a-z]/s/^ *program  *//p' | head -n 1)
highs_libs=$(dirname "$(dirname "$highs")")/lib
bare_solver()
{
    (cd "$work/solve" && env -i PATH=/usr/bin:/bin LD_LIBRARY_PATH="$highs_libs" \
        "$highs" --time_limit 60 --solution_file job-4711.txt model.lp)
}
if [ -x "$highs" ] && bare_solver >"$work/log" 2>&1; then
    pass "is solved by the bare solver"
    ok "which knows the solver's own file alone" \
        grep -q '^Model status' "$work/solve/job-4711.txt"
else
    skip "is solved by the bare solver" "there is no program highs"
    moirai-solve -q "$work/solve/model.lp" -o "$work/solve/job-4711.txt" \
        >/dev/null 2>&1 || skip_all "there is no solver"
fi
for other in scip cbc glpk; do
    moirai-solve -q --solver $other --via process --time 60 \
        "$work/solve/model.lp" -o "$work/solve/$other.sol" >/dev/null 2>&1 ||
        continue
    ok "$other keeps the names" grep -q \
        '^moirai_g_[0-9a-f]*_model.xml 1$' "$work/solve/$other.sol"
done

# what it is of

exits "what the file is of" 0 in_folder solve moirai-info job-4711.txt
ok "its layout" grep -q '^layout  *[a-z]' "$work/out"
ok "its claim" grep -q '^makespan .* us, as claimed$' "$work/out"
ok "its graph, by name and digest" \
    grep -q '^graph  *model.xml ([0-9a-f]\{16\}), missing$' "$work/out"
ok "its cluster" grep -q \
    '^cluster  *model.cluster.xml ([0-9a-f]\{16\}), missing$' "$work/out"
ok "its options" grep -q '^congestion  *port$' "$work/out"
ok "the ops of its devices" grep -q '^device 0  *[0-9]* ops$' "$work/out"
exits "as JSON" 0 in_folder solve moirai-info --json job-4711.txt
ok "which is JSON" is_json "$work/out"
ok "with what is missing" \
    grep -q '"kind": "graph", "name": "model.xml", .*"path": null' "$work/out"
complains "all that is missing at once" 1 "missing here: graph model.xml (" \
    in_folder solve moirai-exec job-4711.txt
ok "both files" grep -q '); cluster model.cluster.xml (' "$work/err"
ok "where they were searched" grep -q 'searched: \.; give them with' "$work/err"
complains "one of them" 1 "missing here: graph model.xml (" in_folder solve \
    moirai-check -c "$work/emit/model.cluster.xml" job-4711.txt
cp "$work/emit/model.cluster.xml" "$work/solve"
cp "$work/emit/model.xml" "$work/solve/model.xml"
sed 's/gflops="40"/gflops="41"/' "$work/emit/model.cluster.xml" \
    >"$work/solve/model.cluster.xml"
complains "another one of the same name" 1 "is another: " in_folder solve \
    moirai-exec job-4711.txt
ok "and the weights beside the graph that was found" \
    grep -q 'missing here: cluster .*; weights model.bin; searched' "$work/err"
rm "$work/solve/model.cluster.xml" "$work/solve/model.xml"
cp "$top_srcdir/examples/inception.graphml" "$work/solve/unrelated.graphml"
complains "an unrelated graph" 1 "missing here: graph model.xml (" \
    in_folder solve moirai-exec job-4711.txt
ok "is not named" sh -c "! grep -q unrelated '$work/err'"
rm "$work/solve/unrelated.graphml"

# back, and where files are searched for

mv "$work/solve/job-4711.txt" "$work/emit"
exits "back where the files are" 0 in_folder emit moirai-info job-4711.txt
ok "they are found" grep -q \
    '^graph  *model.xml ([0-9a-f]*), here: model.xml$' "$work/out"
ok "and devices have names" grep -q '^slow  *[0-9]* ops$' "$work/out"
in_folder emit cp job-4711.txt link-target.sol
ln -s "$work/emit/link-target.sol" "$work/empty/link.sol"
exits "beside the target of a link" 0 in_folder empty moirai-check -q link.sol
exits "beside the solution that is written" 0 in_folder solve \
    moirai-solve --solver highs model.lp -o "$work/emit/again.sol"
ok "which is checked" grep -q '^valid' "$work/out"
exits "what it claims" 0 moirai-info "$work/emit/again.sol"
ok "with its status" grep -q '^status  *optimal, as claimed$' "$work/out"
ok "and its bound" grep -q '^bound  *[0-9.]* us, as claimed$' "$work/out"
in_folder emit mv model.xml renamed.xml
in_folder emit cp model.bin renamed.bin
exits "under another name" 0 in_folder emit moirai-check -q job-4711.txt
in_folder emit mv renamed.xml model.xml
rm "$work/emit/renamed.bin"

# sizes of dynamic inputs

port()
{
    echo '<port id="0" precision="FP32"><dim>-1</dim><dim>8</dim></port>'
}
cat >"$work/empty/net_dyn.xml" <<EOF
<net name="dyn" version="11"><layers>
<layer id="0" name="x" type="Parameter" version="opset1">
<data shape="?,8" element_type="f32"/><output>$(port)</output></layer>
<layer id="1" name="r" type="ReLU" version="opset1">
<input>$(port)</input><output>$(port | sed s/id=.0./id=\"1\"/)</output></layer>
<layer id="2" name="out" type="Result" version="opset1">
<input>$(port)</input></layer></layers><edges>
<edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>
<edge from-layer="1" from-port="1" to-layer="2" to-port="0"/>
</edges></net>
EOF
cp "$top_srcdir/examples/inception.graphml" "$work/empty/bag.graphml"
exits "a dynamic model" 0 in_folder empty \
    moirai-place -q -c cpu --shape x=2,8 net_dyn.xml -o dyn.sol
exits "runs in the size it was placed in" 0 in_folder empty moirai-exec dyn.sol
exits "which is known" 0 in_folder empty moirai-info dyn.sol
ok "from the solution" grep -q '^shape  *x=2,8$' "$work/out"
exits "in a bundle, too" 0 in_folder empty \
    sh -c 'moirai-exec -q --bundle dyn.tar dyn.sol && moirai-exec dyn.tar'
in_folder empty moirai-place -q -c cpu --shape "x=$(printf '%090d' 2),8" \
    net_dyn.xml -o long.sol >"$work/out"
ok "a size that is too long for a column" \
    grep -q '^moirai_s__ 1$' "$work/empty/long.sol"
complains "is not in the file" 1 "give it a size with --shape" \
    in_folder empty moirai-exec long.sol
ok "names the model and no other" sh -c \
    "grep -q 'net_dyn.xml: input' '$work/err' && ! grep -q bag '$work/err'"
exits "is given" 0 in_folder empty moirai-exec --shape x=2,8 long.sol
exits "another size" 1 in_folder empty moirai-exec --shape x=3,8 dyn.sol
rm "$work"/empty/*

# pack here, run elsewhere

exits "everything in one file" 0 in_folder emit \
    moirai-exec --bundle "$work/run/job.tar" job-4711.txt
in_folder emit moirai-exec -q --bundle "$work/empty/again.tar" job-4711.txt
ok "the same bytes every time" cmp "$work/run/job.tar" "$work/empty/again.tar"
mv "$work/emit" "$work/gone"
exits "its contents" 0 in_folder run moirai-info job.tar
ok "the weights" grep -q '^weights  *model.bin, .* ([0-9a-f]\{16\})$' \
    "$work/out"
ok "the graph inside" grep -q '^graph  *model.xml .*, here: model.xml$' \
    "$work/out"
cp "$work/out" "$work/first"
in_folder run moirai-info job.tar >"$work/second"
ok "the same report every time" cmp "$work/first" "$work/second"
exits "is checked" 0 in_folder run moirai-check --json job.tar
ok "with the names of members" grep -q '"graph": "model.xml"' "$work/out"

cp "$top_srcdir"/examples/two_branches/*.npy "$work/run"
cp "$(command -v moirai-exec)" "$work/run"
chmod 755 "$work/run/moirai-exec"
chmod 644 "$work"/run/*.npy "$work/run/job.tar"
chmod 555 "$work/run"
if [ "$(id -u)" = 0 ] && setpriv --reuid=65534 --regid=65534 --clear-groups \
    "$work/run/moirai-exec" --version >/dev/null 2>&1; then
    user="setpriv --reuid=65534 --regid=65534 --clear-groups"
else
    user=
fi
elsewhere()
{
    # shellcheck disable=SC2086
    (cd "$work/run" && env -i PATH=/usr/bin:/bin TMPDIR="$TMPDIR" MOIRAI_CUDA= \
        ASAN_OPTIONS="${ASAN_OPTIONS-}" $user ./moirai-exec "$@")
}
exits "runs in a folder that cannot be written" 0 \
    elsewhere -i input0.npy --reference . --check job.tar
ok "with the framework's outputs" grep -q '^equal to' "$work/out"
if [ -n "$user" ]; then
    pass "as another user"
    exits "who may not read it" 1 \
        sh -c "chmod 600 '$work/run/job.tar'; cd '$work/run' &&
            $user ./moirai-exec job.tar"
    chmod 644 "$work/run/job.tar"
else
    skip "as another user" "only root can change the user"
fi
# inputs in other folders than the solution

mkdir -p "$work/tree/nets" "$work/tree/clusters" "$work/tree/out" "$work/far"
cp "$top_srcdir/examples/two_branches/model.xml" \
    "$top_srcdir/examples/two_branches/model.bin" "$work/tree/nets"
cp "$top_srcdir/examples/two_branches/model.cluster.xml" \
    "$work/tree/clusters/two.xml"
exits "a placement in a third folder" 0 in_folder tree/nets moirai-place -q \
    --time 2 -c ../clusters/two.xml model.xml -o ../out/p.sol
is "has both paths of each input" "$(grep '^# file:' "$work/tree/out/p.sol")" \
    "# file: ../nets/model.xml
# file: $work/tree/nets/model.xml
# file: ../clusters/two.xml
# file: $work/tree/clusters/two.xml"
exits "is run there" 0 in_folder tree/out moirai-exec -q p.sol
exits "and from elsewhere" 0 in_folder empty moirai-exec -q ../tree/out/p.sol
cp "$work/tree/out/p.sol" "$work/far"
exits "a copy of it" 0 in_folder empty moirai-check "$work/far/p.sol"
exits "a model" 0 in_folder tree/out moirai-emit -q --no-strengthen \
    -c ../clusters/two.xml ../nets/model.xml -o net.mps
exits "is solved where nothing else is" 0 in_folder empty moirai-solve -q \
    --time 60 -o "$work/far/net.sol" "$work/tree/out/net.mps"
exits "and its solution is checked" 0 in_folder empty \
    moirai-check "$work/far/net.sol"
mv "$work/tree" "$work/moved"
exits "what moves together stays together" 0 in_folder empty \
    moirai-check "$work/moved/out/p.sol"
sed 's/gflops="[0-9]*/&1/' "$top_srcdir/examples/two_branches/model.cluster.xml" \
    >"$work/moved/clusters/two.xml"
complains "another file of that name" 1 \
    "but $work/moved/out/../clusters/two.xml is another: " \
    in_folder empty moirai-check "$work/moved/out/p.sol"
cp "$work/moved/clusters/two.xml" "$work/moved/nets/model.cluster.xml"
exits "a placement beside its inputs" 0 in_folder moved/nets moirai-place -q \
    --time 2 model.xml -o here.sol
is "has no paths" "$(grep -c '^# file:' "$work/moved/nets/here.sol")" 0
printf '%s\n' '# file: \x' '# file: \x4' '# file: \xzz' '# file: /' '# file:' \
    >"$work/far/odd"
sed "1r $work/far/odd" "$work/moved/out/p.sol" >"$work/moved/out/odd.sol"
complains "odd paths" 1 "missing here: cluster two.xml" \
    moirai-check "$work/moved/out/odd.sol"

is "nothing is left behind" "$(ls -A "$TMPDIR")" ""
chmod 755 "$work/run"

done_testing
