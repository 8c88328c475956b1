#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers
# Tests of moirai-solve: answers, limits, starts, outputs, and solvers that
# misbehave.
. "${top_srcdir:=.}/tests/support/tap.sh"

unset MOIRAI_CLUSTER MOIRAI_PATH
work=$(cd "$work" && pwd -P)
TMPDIR=$work/tmp
export TMPDIR
mkdir "$TMPDIR"
cp "$top_srcdir/examples/inception.graphml" \
    "$top_srcdir/examples/inception.cluster.xml" "$work"
net=$work/inception.graphml
cd "$work" || exit 99
moirai-emit -q --no-strengthen "$net" -o model.lp --start start.sol --fusion default

value()
{
    sed -n "s/^  \"$1\": \(.*[^,]\),*\$/\1/p" "$work/out"
}

moirai-solve --list >list 2>/dev/null || skip_all "no solver can be listed"
here=$(sed -n 's/^\([a-z][a-z]*\) .*/\1/p' list | while read -r s; do
    grep -q "^$s *not found" list || echo "$s"; done)
[ -n "$here" ] || skip_all "there is no solver"

# Returns whether a command that hangs for 100 seconds was ended after its
# limit of 2, with a margin for a busy machine.
is_soon()
{
    [ $(($(date +%s) - $1)) -le 30 ]
}

# Runs moirai-solve with a solver that executes the shell command given first.
bad()
{
    timeout 60 moirai-solve --via command --time 2 model.lp -o bad.sol \
        --command "$1 # {model} {solution}"
}

# answers

is "five solvers are listed" "$(grep -c '^[a-z]' list)" 5
# A program without the files beside it, and the package that needs one.
cp "$(command -v moirai-solve)" lonely
mkdir -p env/lib/python3.9/site-packages/gurobipy env/bin
ln -s "$(command -v sh)" env/bin/python3
exits "a list without a script" 0 env VIRTUAL_ENV="$work/env" ./lonely --list
is "has all solvers" "$(grep -c '^[a-z]' out)" 5
exits "as JSON" 0 moirai-solve --list --json
ok "is JSON" "${MOIRAI_PYTHON:-python3}" -c \
    'import json,sys; assert len(json.load(open(sys.argv[1]))) == 5' out

exits "a model" 0 moirai-solve model.lp
is "is solved to the end" "$(sed -n 1p out)" "valid, optimal"
ok "the solution is called like it" test -s model.sol
ok "in Gurobi's layout" grep -q '^# Objective value = ' model.sol
exits "which is valid" 0 moirai-check model.sol
# Without glpsol in the PATH.
here_only()
{
    env PATH="$(cd "$top_builddir" && pwd)" moirai-solve "$@"
}
if echo "$here" | grep -qx highs; then
    exits "a solver that is not here, and HiGHS" 0 \
        here_only --solver glpk,highs model.lp
    ok "the first is left out" grep -q 'GLPK was not found, and is left out' err
    complains "it alone" 1 "GLPK was not found; say where" \
        here_only --solver glpk model.lp
else
    skip "a solver that is not here, and HiGHS" "there is no HiGHS"
fi
# Two pairs of ops that fit one after the other but not side by side, which the
# model with live memory does not represent.
{
    echo '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    for key in time_us.A time_us.B output_bytes; do
        echo "<key id=\"$key\" for=\"node\" attr.name=\"$key\"" \
            'attr.type="double"/>'
    done
    echo '<graph edgedefault="directed">'
    for id in a b c d; do
        echo "<node id=\"$id\"><data key=\"time_us.A\">5</data>" \
            '<data key="time_us.B">100</data>' \
            '<data key="output_bytes">60</data></node>'
    done
    echo '<edge source="a" target="b"/><edge source="c" target="d"/>'
    echo '</graph></graphml>'
} >pairs.graphml
{
    echo '<cluster><device id="A" memory_bytes="100"/>'
    echo '<device id="B" memory_bytes="200"/>'
    echo '<link between="A B" gbps="10"/></cluster>'
} >pairs.cluster.xml
moirai-emit -q --memory live pairs.graphml -o pairs.lp
moirai-place -q --memory live pairs.graphml -o best.sol >/dev/null
moirai-solve -q --json pairs.lp -o pairs.sol >out
is "with live memory what a model refuses is missed" "$(value makespan_us)" 200
is "so that nothing is optimal" "$(value status)" '"feasible"'
ok "and the bound holds for all" \
    awk -v us="$(value bound_us)" 'BEGIN { exit !(us > 0 && us <= 20) }'
exits "a better start is accepted" 0 \
    moirai-solve -q --json --start best.sol pairs.lp -o pairs.sol
is "where more is known" "$(value makespan_us)" 20
ok "nothing is printed on stderr" test ! -s err

# Where the model refuses everything, the search has the answer.
sed 's/"200"/"100"/' pairs.cluster.xml >small.cluster.xml
sed 's|^<node id="\([ab]\)".*|&\n&|; s|^<edge.*|&<edge source="e" target="f"/>|' \
    pairs.graphml | awk '/id="a"/ && n++ { sub("\"a\"", "\"e\"") }
    /id="b"/ && m++ { sub("\"b\"", "\"f\"") } 1' >small.graphml
exits "moirai with live memory" 0 moirai -q --json --memory live small.graphml
is "has what the model refuses" \
    "$(value status) $(value makespan_us) $(value solver)" \
    '"optimal" 30 "search"'
exits "and by a solver" 0 moirai -q --json --memory live --cross-check 0 \
    --solver "$(echo "$here" | grep -v gurobi | head -n 1)" small.graphml
is "no less" "$(value status) $(value makespan_us)" '"optimal" 30'
exits "as in larger memory" 0 moirai -q --json --memory live pairs.graphml
is "where the model has another" "$(value status) $(value makespan_us)" \
    '"optimal" 20'
moirai-emit -q --memory live small.graphml -o small.lp
exits "that model alone" 0 moirai-solve -q --json small.lp -o small.sol
is "is searched" "$(value status) $(value makespan_us)" '"optimal" 30'
exits "without a search" 3 moirai-solve -q --json --cross-check 0 small.lp
is "nothing is proven" "$(value status)" '"claimed_infeasible"'
ok "nor about memory" test -z "$(grep 'fits into memory' out)"

exits "to another file" 0 moirai-solve --json model.lp -o other.sol
is "reported as JSON" "$(value status)" '"optimal"'
is "makespan and bound" "$(value makespan_us)" 63.7
ok "written" test -s other.sol
moirai-solve -q model.lp -o - >stdout.sol 2>report
ok "to standard output" moirai-check stdout.sol
moirai-solve -q - -o piped.sol <model.lp >/dev/null
ok "from standard input" moirai-check piped.sol
gzip -c model.lp >packed.lp.gz
if moirai-emit --version | grep -q zlib; then
    exits "a packed model" 0 moirai-solve packed.lp.gz
    ok "makes packed.sol" moirai-check packed.sol
else
    skip "a packed model" "zlib is not built in"
    skip "makes packed.sol" "zlib is not built in"
fi
exits "with a start" 0 moirai-solve --start start.sol model.lp
complains "a start that is not there" 1 "none.sol" \
    moirai-solve -q --start none.sol model.lp
exits "a portfolio" 0 moirai-solve \
    --solver "$(echo "$here" | grep -v gurobi | tr '\n' ',' | sed 's/,$//')" \
    model.lp -o portfolio.sol
is "finds the same" "$(sed -n 2p out | cut -d, -f1)" "makespan    63.7 us"

mkdir alone
cp model.lp alone
(cd alone && moirai-solve model.lp >out 2>err)
is "without its graph" $? 0
is "it is not checked" "$(sed -n 1p alone/out)" "optimal, not checked"
is "what is claimed is rounded" "$(sed -n 2p alone/out)" \
    "claimed     63.7 us"
ok "which is reported" grep -q 'not checked: .*missing here: graph [^ ]* ([0-9a-f]*)' alone/err

printf '%s\n' 'Minimize' ' obj: w' 'Subject To' ' r: w >= 2' ' q: w <= 1' \
    'Bounds' ' w <= 10' 'End' >none.lp
exits "a model without solution" 3 moirai-solve none.lp
ok "is infeasible" grep -q '^infeasible' out
exits "as JSON" 3 moirai-solve --json none.lp
is "too" "$(value status)" '"infeasible_as_given"'
ok "and nothing is written" test ! -e none.sol

complains "no such model" 1 "nothing.lp" moirai-solve -q nothing.lp
exits "no model" 2 moirai-solve
: >empty.lp
printf '\\ only a comment\n' >comment.lp
echo garbage >garbage.lp
complains "an empty model" 1 'empty.lp: is empty' moirai-solve empty.lp
complains "a comment alone" 1 'is empty' moirai-solve comment.lp
complains "something else" 1 'neither an LP nor an MPS' moirai-solve garbage.lp
complains "no such solver" 2 "there is no solver 'abacus'" \
    moirai-solve --solver abacus model.lp
complains "a place without it" 2 "--solver-path" \
    moirai-solve -q --solver highs --solver-path "$work/alone" model.lp
complains "a command without template" 2 "--command" \
    moirai-solve --via command model.lp

complains "an answer in the place of the model" 2 "would replace" \
    moirai-solve model.lp -o ./model.lp
complains "no place for an answer, before it is looked for" 1 "nowhere/a.sol" \
    moirai-solve --via command --command 'touch ran # {model} {solution}' \
    model.lp -o nowhere/a.sol
ok "nothing was run" test ! -e ran
printf '%s\n' 'Minimize' ' obj: a' 'Subject To' ' r: a + b >= 3' 'Bounds' \
    ' a free' ' b free' 'End' >endless.lp
printf '%s\n' 'Minimize' ' obj: a' 'Subject To' ' r: a >= 3' ' q: a <= 1' \
    'End' >never.lp
for solver in $here; do
    exits "$solver: infeasible" 3 moirai-solve --solver "$solver" never.lp
    is "$solver reports it" "$(sed -n 's/[ :].*//p' out | head -n 1)" infeasible
    exits "$solver: unbounded" 3 moirai-solve --solver "$solver" endless.lp
    ok "$solver reports it" grep -q '^limit: unbounded' out
done

# misbehaviour

exits "one that exits with nothing" 3 bad true
exits "one that fails" 3 bad 'exit 7'
exits "one that crashes" 3 bad 'kill -SEGV $$'
exits "one that prints garbage" 3 bad 'echo garbage >{solution}; echo garbage'
exits "one that hangs" 3 bad 'sleep 100'
exits "one that hangs and will not stop" 3 bad "trap '' INT TERM; sleep 100"
ok "nothing of all that is left" test ! -e bad.sol
is "no folder, either" "$(ls "$TMPDIR")" ""
for few in 5 6 7 8 10 12; do
    # shellcheck disable=SC3045
    (ulimit -n $few && exec moirai-solve -q model.lp -o few.sol) >out 2>err
    is "none after $few descriptors" "$(ls "$TMPDIR")" ""
done
exits "an answer that is another's" 1 sh -c 'sed "s/^moirai_g_..../moirai_g_dead/" model.sol >forged.sol;
    moirai-check forged.sol'
sed 's/^x_\([0-9]*\)_0 1$/x_\1_0 0.5/' model.sol >half.sol
exits "an answer that does not hold" 4 moirai-solve --via command \
    --command 'cp half.sol {solution} # {model}' model.lp -o lie2.sol
ok "is not written" test ! -e lie2.sol
exits "a copy of a good one" 0 moirai-solve --via command \
    --command 'cp model.sol {solution} # {model}' model.lp -o copy.sol
is "without a proof is feasible" "$(sed -n 1p out)" "valid, feasible"
exits "a pipe in place of an answer" 3 bad 'mkfifo {solution}'
ok "is not waited for" grep -q 'is not a plain file' out
exits "an answer that fills the disk" 3 bad 'truncate -s 5G {solution}'
ok "does not fill the memory" grep -q 'is larger than [0-9]* MiB' out
complains "a command without {model}, once" 2 'has no {model}' \
    moirai-solve --via command --command 'cp a {solution}' model.lp
{
    echo 'solution status: optimal solution found'
    echo 'objective value: 9000'
    sed '/^#/d; s/^w .*/w 9000/' model.sol
} >least.sol
exits "one that proves too much" 0 moirai-solve --via command \
    --cross-check 0 --command 'cp least.sol {solution} # {model}' model.lp -o least2.sol
is "has an answer and no proof" "$(sed -n 1p out)" "valid, feasible"
ok "which is reported" grep -q 'claims that 9000.000 us is optimal, but 63.7' err
printf '#!/bin/sh\nsleep 100\n' >hangs
chmod +x hangs
begin=$(date +%s)
exits "a program that hangs on --version" 3 moirai-solve \
    --solver cbc --via process --solver-path ./hangs --time 2 model.lp
ok "takes no more than its time" is_soon "$begin"
printf 'solution status: infeasible\nno solution available\n' >denied.sol
exits "one that denies what is known" 0 moirai-solve --via command \
    --cross-check 0 --command 'cp denied.sol {solution} # {model}' model.lp -o denied2.sol
ok "is contradicted" grep -q 'claims that the model is infeasible, but 68.900 us is' err
is "by what is the answer then" \
    "$(sed -n 's/^solver *\(.*\),.*/\1/p' out)" heuristic
ok "which holds" moirai-check -q denied2.sol

exits "one that finds nothing better than its start" 0 moirai-solve \
    --via command --command 'true {model} {solution}' --start start.sol \
    model.lp -o kept.sol
is "has that" "$(sed -n 's/^solver *\(.*\),.*/\1/p' out)" "the start"
ok "gives the reason" grep -q 'the command: ended .* no answer' err
ok "and it holds" moirai-check -q kept.sol
exits "a start that does not hold" 3 moirai-solve --json \
    --via command --command 'true {model} {solution}' --start half.sol \
    model.lp -o kept2.sol
ok "is none, which is reported beside JSON" grep -q 'the command: ended' err

# limits

moirai-zoo --layers 2 --hidden 64 --heads 2 -o big.graphml
moirai-emit -q --fusion none -c inter-server big.graphml -o big.lp
for solver in $here; do
    [ "$solver" = gurobi ] && continue
    begin=$(date +%s)
    timeout 60 moirai-solve -q --solver "$solver" --time 1 big.lp \
        -o "big-$solver.sol" >out 2>err
    code=$?
    ok "$solver keeps its time" is_soon "$begin"
    ok "$solver ends well ($code)" test "$code" -eq 0 -o "$code" -eq 3
done

# Not by INT, which a background job of sh ignores.
moirai-solve -q --time 300 big.lp -o stopped.sol >out 2>err &
pid=$!
sleep 1
begin=$(date +%s)
kill -TERM $pid
wait $pid
code=$?
ok "interrupted, it ends well ($code)" test "$code" -eq 0 -o "$code" -eq 3
ok "and soon" is_soon "$begin"
if [ "$code" -eq 0 ]; then
    ok "with what it had" moirai-check -q stopped.sol
else
    pass "with nothing, for nothing was found"
fi
is "no folder is left" "$(ls "$TMPDIR")" ""

done_testing
