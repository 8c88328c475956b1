#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers
# Tests of what is believed: claims of solvers, bounds, statuses, and the rules
# that a solution is judged by.
. "${top_srcdir:=.}/tests/support/tap.sh"

unset MOIRAI_CLUSTER MOIRAI_PATH
cp "$top_srcdir/examples/inception.graphml" \
    "$top_srcdir/examples/inception.cluster.xml" "$work"
cd "$work" || exit 99
moirai-solve --list 2>/dev/null >list || skip_all "no solver can be listed"
solvers=$(grep -v -e 'not found' -e '^gurobi' list | grep -c '^[a-z]')
[ "$solvers" -gt 0 ] || skip_all "there is no solver"

value()
{
    sed -n "s/^  \"$1\": \(.*[^,]\),*\$/\1/p" out
}

# As exits, with one of several statuses.
ends()
{
    claim=$1
    codes=$2
    code=0
    shift 2
    "$@" >"$work/out" 2>"$work/err" </dev/null || code=$?
    case " $codes " in
    *" $code "*) pass "$claim" ;;
    *) is "$claim" "$code" "$codes" ;;
    esac
}

# The optimum is 63.7 us; all eight ops on A take 81.7 us; a heuristic finds
# 68.9 us, and the load bound is 61.035 us.
moirai-emit -q --no-strengthen --fusion default inception.graphml -o model.lp
exits "an honest solver" 0 moirai-solve -q model.lp
is "is believed" "$(sed -n 1p out)" "valid, optimal"
ok "for the bound is proven here" \
    grep -q '^bound  *63.7 us (search, recomputed), gap 0.00 %$' out

{
    awk 'BEGIN {
        print "w 81.7"
        for (i = 0; i < 8; i++) {
            print "x_" i "_0 1"
            print "s_" i, i * 10
            for (j = i + 1; j < 8; j++)
                print "o_" i "_" j, 1
        }
    }'
    grep '^moirai_' model.sol
} >all-a

# Runs moirai-solve with a solver that writes the file $1.
believe()
{
    moirai-solve --cross-check 60 --via command \
        --command "cp $* {solution} # {model}" -o lie.sol model.lp
}

# claims that are false, without and with a cross-check

n=0
while IFS='|' read -r name heading columns code status gap; do
    n=$((n + 1))
    printf '%b' "$heading" >lie
    [ -z "$columns" ] || cat "$columns" >>lie
    rm -f lie.sol
    exits "$name" "$code" moirai-solve --json --cross-check 0 --via command \
        --command 'cp lie {solution} # {model}' -o lie.sol model.lp
    is "$name: the status" "$(value status)" "\"$status\""
    if [ "$code" -eq 0 ]; then
        is "$name: in the file" "$(sed -n 's/^# status: //p' lie.sol)" "$status"
        is "$name: the bound" "$(value bound_us) $(value bound_recomputed)" \
            "61.035 true"
        is "$name: in the file" "$(sed -n 's/^# bound by: //p' lie.sol)" \
            "load, recomputed"
        exits "$name: as text, quietly" 0 moirai-solve -q --cross-check 0 \
            --via command --command 'cp lie {solution} # {model}' -o lie.sol \
            model.lp
        is "$name: the first line" "$(sed -n 1p out)" "valid, $status"
        ok "$name: the gap" grep -q "^bound .* (load, recomputed), gap $gap" out
        # What refutes a claim and is better is the answer, by its own name.
        case $gap in
        11) ok "$name: the answer" grep -q '^solver  *heuristic,' out ;;
        *) ok "$name: the answer" grep -q '^solver  *the command,' out ;;
        esac
        ok "$name: is valid" moirai-check -q lie.sol
    else
        ok "$name: nothing is written" test ! -e lie.sol
    fi
    # With a cross-check the optimum is found, and it alone is called so.
    ends "$name: a second opinion" "0 3" moirai-solve --json --via command \
        --command 'cp lie {solution} # {model}' -o lie.sol model.lp
    case $(value status) in
    '"optimal"') is "$name: of the optimum" "$(value makespan_us)" 63.7 ;;
    '"feasible"' | '"limit"') pass "$name: of none" ;;
    *) is "$name: a known status" "$(value status)" "" ;;
    esac
done <<'CASES'
all on A, called optimal|# status: optimal\n# bound: 81.7\n|all-a|0|feasible|11
optimal without a bound|# status: optimal\n|all-a|0|feasible|11
a bound above|# status: feasible\n# bound: 99.99\n|all-a|0|feasible|11
a bound far above|# status: feasible\n# bound: 1e19\n|all-a|0|feasible|11
a bound above the best that is known|# status: feasible\n# bound: 70\n|all-a|0|feasible|11
an infinite bound|# status: optimal\n# bound: inf\n|all-a|0|feasible|11
a negative bound|# status: feasible\n# bound: -5\n|all-a|0|feasible|25
a bound that is no number|# status: optimal\n# bound: nan\n|all-a|3|limit|
infeasible with values|# status: infeasible\n|all-a|0|feasible|11
infeasible|# status: infeasible\n||0|feasible|11
unbounded|# status: unbounded\n||0|feasible|11
optimal without values|# status: optimal\n# bound: 1\n||3|limit|
infeasible, as MIPLIB does|=infeas=\n||0|feasible|11
CASES
is "thirteen lies" $n 13

printf '# status: optimal\n# bound: 81.7\n' | cat - all-a >lie
believe lie >out 2>err
ok "a refuted claim is one line" \
    grep -q '^moirai-solve: the command claims that 81.700 us is optimal, but' err
ok "and in the report" \
    grep -q '^refuted  *the command claims that 81.700 us is optimal, but' out
is "a better answer is found" \
    "$(sed -n 's/^makespan *\([^,]*\).*/\1/p' out)" "63.7 us"
ok "by the search" grep -q '^solver  *search' out
ok "which is written and valid" moirai-check -q lie.sol

# The same by a solver of its own name, alone and in a portfolio.
cat >glpsol <<'SCRIPT'
#!/bin/sh
case $* in *--version*) echo 'GLPSOL: GLPK LP/MIP Solver 5.0' && exit ;; esac
while [ "$1" != -w ] && [ "$1" != solution ]; do shift; done
cp "$LIE" "$2"
# Two of them end at about the same time.
[ -z "${TWO-}" ] || : >"$TWO.$$"
i=0
while [ -n "${TWO-}" ] && [ "$(ls "$TWO".* | wc -l)" -lt 2 ] && [ $i -lt 50 ]; do
    i=$((i + 1))
    sleep 0.1
done
SCRIPT
chmod +x glpsol
LIE=$work/lie
export LIE
exits "a plug-in's solver" 0 moirai-solve --json --cross-check 0 \
    --solver glpk --solver-path ./glpsol -o lie.sol model.lp
is "is not believed either" "$(value status) $(value makespan_us) \
$(value solver)" '"feasible" 68.9 "heuristic"'
exits "alone" 0 moirai-solve --json --cross-check 60 --solver glpk --solver-path ./glpsol \
    -o lie.sol model.lp
is "it is not the answer" "$(value status) $(value makespan_us)" \
    '"optimal" 63.7'
other=$(grep -v -e 'not found' -e '^gurobi' -e '^glpk' list |
    sed -n 's/^\([a-z]*\) .*/\1/p' | head -n 1)
MOIRAI_GLPK=$work/glpsol
export MOIRAI_GLPK
exits "beside $other" 0 moirai-solve --json --cross-check 0 \
    --solver "glpk,${other:-glpk}" -o lie.sol model.lp
is "it does not win" "$(value makespan_us)" 63.7
exits "a start that is better" 0 moirai-solve --json --cross-check 0 \
    --solver glpk --start model.sol -o lie.sol model.lp
is "refutes it" "$(value status) $(value makespan_us)" '"feasible" 63.7'
exits "moirai itself" 0 moirai --json --no-strengthen --cross-check 0 \
    --solver glpk inception.graphml
is "does not believe it" "$(value status)" '"feasible"'

# Two solvers with the same false optimum, that of the heuristic: they agree,
# and the search refutes both. Each is a program of its own.
cp glpsol cbc
moirai-emit -q --no-strengthen --fusion default --start heuristic.sol \
    inception.graphml -o plain.lp
{ echo '# status: optimal' && sed '/^[#=]/d' heuristic.sol; } >lie
for check in 60 0; do
    exits "two that agree, $check" 0 env MOIRAI_CBC="$work/cbc" TWO=both$check \
        moirai-solve --json --cross-check $check --root-lp 0 \
        --solver glpk,cbc -o lie.sol plain.lp
    case $check in
    0) is "are two claims" "$(value status)" '"claimed_optimal"' ;;
    *) is "are refuted" "$(value status) $(value makespan_us) $(value solver)" \
        '"optimal" 63.7 "search"' ;;
    esac
done
is "and named" "$(value claimed_by)" '"GLPK and CBC"'
exits "as text" 0 env MOIRAI_CBC="$work/cbc" TWO=text moirai-solve \
    --cross-check 0 --root-lp 0 --solver glpk,cbc -o lie.sol plain.lp
is "in the first line" "$(sed -n 1p out)" \
    "valid, optimal (claimed by GLPK and CBC, not confirmed)"
exits "in the file" 0 moirai-check lie.sol
ok "too" grep -q '^claimed  *optimal by GLPK, not confirmed' out
exits "with honest ones beside" 0 moirai-solve --json --cross-check 60 \
    --root-lp 0 --solver "glpk,${other:-glpk}" -o lie.sol plain.lp
is "the optimum alone is called so" "$(value status) $(value makespan_us)" \
    '"optimal" 63.7'

# Without the graph no search refutes: a solver does not confirm itself, under
# any name.
mkdir lonely
sed -i.bak '/^moirai_/d' lie
cp plain.lp lonely
alone()
{
    cd lonely && env MOIRAI_HIGHS=none MOIRAI_SCIP=none MOIRAI_GUROBI=none \
        MOIRAI_CBC="$1" moirai-solve -q --json --cross-check 5 --solver glpk \
        -o lie.sol plain.lp
    code=$?
    cd "$work" && return $code
}
exits "a solver without another" 0 alone none
is "does not confirm itself" "$(value status) $(value claimed_by)" \
    '"claimed_optimal" "GLPK"'
exits "under two names" 0 alone "$work/glpsol"
is "neither" "$(value status) $(value claimed_by)" '"claimed_optimal" "GLPK"'
exits "with another" 0 alone "$work/cbc"
is "it is confirmed" "$(value status) $(value confirmed_by) $(value checked)" \
    '"optimal" "CBC" false'
unset MOIRAI_GLPK

# A model with rows of the user: what they exclude is no answer.
moirai-emit -q --slack 2 --fusion default inception.graphml -o open.lp
row=$(seq -f 'x_%g_0' -s ' + ' 0 7)
sed "s/^Subject To/&\\n mine: $row >= 8/" open.lp >extended.lp
ok "a row is added" grep -q '^ mine: x_0_0' extended.lp
exits "an extended model" 0 moirai-solve --json extended.lp
is "has its own optimum" "$(value makespan_us)" 81.7
ok "which no schedule of another model refutes" test -z "$(value refuted)"
if [ "$solvers" -gt 1 ]; then agreed=optimal_as_given; else agreed=claimed_optimal; fi
is "and which is of that model alone" "$(value status) $(value model)" \
    "\"$agreed\" \"as given, not as emitted\""
is "in the file" "$(sed -n 's/^# status: //p; s/^# model: //p' extended.sol)" \
    "$agreed
as given, not as emitted"
exits "that solution" 0 moirai-check extended.sol
ok "is described so" grep -q '^claimed  *optimal by .*, \(for its model as given\|not confirmed\)' out
exits "the model without the row" 0 moirai-solve --json open.lp
is "is as emitted" "$(value status) $(value makespan_us) $(value model)" \
    '"optimal" 63.7 "as emitted"'
exits "a start that breaks the row" 0 moirai-solve --json --start open.sol \
    extended.lp
is "is no answer" "$(value makespan_us) $(value refuted)" "81.7 "
sed 's/^Subject To/&\n mine: w <= 20/' open.lp >deadline.lp
exits "a row that excludes everything" 3 moirai-solve --json deadline.lp
ok "is no lack of memory" test -z "$(grep memory out)"
case $(value status) in
'"infeasible_as_given"' | '"claimed_infeasible"') pass "but of that model" ;;
*) is "but of that model" "$(value status)" '"infeasible_as_given"' ;;
esac

# A bound of the model raised above the optimum: what solvers agree on is wrong.
for form in lp mps; do
    moirai-emit -q --no-strengthen --fusion default inception.graphml \
        -o raised.$form
    ok "$form has a digest" grep -qx '. digest: [0-9a-f]\{16\}' raised.$form
    exits "$form: as emitted" 0 moirai-solve -q --json --cross-check 0 raised.$form
    is "is noticed" "$(value model)" '"as emitted"'
    sed -i.bak -e 's/^[0-9.]* <= w <=/66 <= w <=/' \
        -e 's/^ LO BND w .*/ LO BND w 66/' raised.$form
    ok "$form: an edited bound" test -n "$(diff raised.$form raised.$form.bak)"
    exits "is solved" 0 moirai-solve --json raised.$form
    case "$(value status) $(value makespan_us)" in
    '"optimal" 63.7' | '"feasible" '*) pass "$form: and the optimum found" ;;
    *) is "$form: and the optimum found" "$(value status)" '"feasible"' ;;
    esac
    is "which is noticed" "$(value model)" '"as given, not as emitted"'
done
mkdir raised
cp raised.lp raised
exits "where the graph is missing" 0 sh -c "cd raised && moirai-solve -q --json \
    raised.lp"
is "nothing is said of it" "$(value status) $(value checked) $(value model)" \
    "\"$agreed\" false \"as given, not as emitted\""
exits "as text" 0 sh -c "cd raised && moirai-solve -q raised.lp"
ok "neither" grep -q '^model  *as given, not as emitted$' out

# A bound above a known schedule discredits all that this solver claims.
printf '# status: optimal\n# bound: 70\n' >lie
sed '/^#/d' model.sol >>lie
exits "a true optimum with a false bound" 0 moirai-solve --json \
    --cross-check 0 --via command --command 'cp lie {solution} # {model}' \
    -o lie.sol model.lp
is "is no proof" "$(value status) $(value bound_us)" '"feasible" 61.035'
ok "which is reported" grep -q '"refuted": ".*claims a bound of 70.000 us' out

# claims that may be true

printf '# status: optimal\n# bound: 63.7\n' >true.sol
sed '/^#/d' model.sol >>true.sol
exits "a claim that nothing confirms" 0 moirai-solve --cross-check 0 \
    --via command --command 'cp true.sol {solution} # {model}' \
    -o claim.sol model.lp
is "is named as one" "$(sed -n 1p out)" \
    "valid, optimal (claimed by the command, not confirmed)"
ok "with its bound" \
    grep -q '^bound  *63.7 us (claimed by the command), gap 0.00 %$' out
ok "and the one that is computed" \
    grep -q '^recomputed  *61.035 us (load), gap 4.18 %$' out
is "in the file" "$(sed -n 's/^# status: //p; s/^# bound by: //p' claim.sol |
    paste -sd ' ' -)" "claimed_optimal the command, claimed"
exits "which is valid" 0 moirai-check claim.sol
ok "with that claim" \
    grep -q '^claimed  *optimal by the command, not confirmed, bound 63.7' out
exits "described" 0 moirai-info claim.sol
ok "as not confirmed" grep -q '^status  *optimal, not confirmed, as claimed' out
exits "as JSON" 0 moirai-solve --json --cross-check 0 \
    --via command --command 'cp true.sol {solution} # {model}' \
    -o claim.sol model.lp
is "status, source and bounds" \
    "$(value status) $(value claimed_by) $(value bound_us) \
$(value bound_recomputed) $(value recomputed_bound_us)" \
    '"claimed_optimal" "the command" 63.7 false 61.035'
exits "the search confirms it" 0 moirai-solve --json --via command \
    --command 'cp true.sol {solution} # {model}' -o claim.sol model.lp
is "so that it is optimal" "$(value status) $(value confirmed_by)" \
    '"optimal" "search"'

# Without the graph no search is possible: another solver has to confirm.
mkdir alone
cp model.lp true.sol all-a alone
cd alone || exit 99
exits "without the graph" 0 moirai-solve -q --json --cross-check 60 --via command \
    --command 'cp true.sol {solution} # {model}' -o claim.sol model.lp
cp out ..
is "a solver confirms" "$(cd .. && value status)" '"optimal"'
printf '# status: optimal\n# bound: 81.7\n' | cat - all-a >lie
exits "or refutes" 0 moirai-solve -q --json --cross-check 60 --via command \
    --command 'cp lie {solution} # {model}' -o claim.sol model.lp
cp out ..
if [ "$solvers" -gt 1 ]; then
    is "and two find the optimum" \
        "$(cd .. && value status) $(cd .. && value claimed_us)" \
        '"optimal" 63.7'
else
    is "and one claims another" \
        "$(cd .. && value status) $(cd .. && value claimed_us)" \
        '"claimed_optimal" 63.7'
fi
for w in inf -inf; do
    printf '# status: optimal\nw %s\nx_0_0 1\n' $w >lie
    for json in -q --json; do
        exits "an objective of $w $json" 3 moirai-solve $json --cross-check 0 \
            --via command --command 'cp lie {solution} # {model}' \
            -o claim.sol model.lp
    done
done
for w in 1e19 -1e19 1e300; do
    printf '# status: optimal\nw %s\nx_0_0 1\n' $w >lie
    exits "an objective of $w" 0 moirai-solve -q --cross-check 0 \
        --via command --command 'cp lie {solution} # {model}' \
        -o claim.sol model.lp
    is "is a claim" "$(sed -n 1p "$work/out")" \
        "optimal (claimed by the command, not confirmed), not checked"
done
cd .. || exit 99

# identity columns in an answer

sed 's/\.static\./.none./' true.sol >other.sol
exits "a solver that edits the rules" 4 moirai-solve --json \
    --via command --command 'cp other.sol {solution} # {model}' \
    -o other2.sol model.lp
ok "is refused" grep -q 'the identity columns were edited' out
ok "and nothing is written" test ! -e other2.sol
sed 's/^\(. identity: moirai_o_.*\)\.static\./\1.none./' model.lp >edited.lp
complains "a model with edited rules" 1 "its identity comments were edited" \
    moirai-solve -q edited.lp
for letter in g c o u i; do
    sed "/identity: moirai_${letter}_/d" model.lp >edited.lp
    complains "or without moirai_$letter" 1 "its identity comments were edited" \
        moirai-solve -q edited.lp
done

# Runs moirai-solve with a solver that writes the columns of $1 and the lines
# of standard input.
answer()
{
    { echo '# status: optimal' && sed '/^#/d; /^moirai_/d' "$1" && cat; } >answer.sol
    rm -f answered.sol
    code=0
    moirai-solve -q --cross-check 0 --via command \
        --command 'cp answer.sol {solution} # {model}' -o answered.sol \
        model.lp >out 2>err || code=$?
}
answer model.sol </dev/null
is "an answer without identity columns" $code 0
is "is written with those of the model" "$(grep '^moirai_' answered.sol)" \
    "$(sed -n 's/^. identity: \(.*\)/\1 1/p' model.lp)"
ok "so that it can be checked" moirai-check -q answered.sol
while read -r column; do
    echo "$column 1" >extra
    answer model.sol <extra
    is "an answer with $column" $code 4
    ok "is not of the model" grep -q 'identity columns are not those of' out
    ok "and not written" test ! -e answered.sol
done <<'COLUMNS'
moirai_g_1111111111111111_inception.graphml
moirai_i_1111111111111111
moirai_u_10
moirai_o_compact.port.per_edge.static.default
COLUMNS

# starts: of another graph, and in another time unit

sed 's/id="b1_1x1"/id="first"/; s/"b1_1x1"/"first"/g' inception.graphml >other.graphml
moirai-place -q --fusion default -c inception.cluster.xml -o start.sol \
    other.graphml >out
exits "a start of another graph" 0 moirai-solve --json --cross-check 0 --via command \
    --command 'cp lie {solution} # {model}' --start start.sol -o a.sol model.lp
ok "is no answer" grep -q 'start.sol: is no answer: it is a solution of another' err
exits "as what is written is of this one" 0 moirai-check -q a.sol
moirai-place -q --fusion default --method m-etf -o start.sol \
    inception.graphml >out
moirai-emit -q --no-strengthen --unit ns --fusion default inception.graphml -o ns.lp
exits "a start in another unit" 0 moirai-solve --json --cross-check 0 \
    --command 'false # {model} {solution}' --start start.sol -o a.sol ns.lp
us=$(value bound_us)
exits "is an answer" 0 moirai-check --json a.sol
is "with its bound in that unit" "$(sed -n 's/.*"claimed": .*"bound_us": \([0-9.]*\).*/\1/p' out)" \
    "$us"

# rules: those that are given, then those of the solution

sed '/"A"/s/memory_gib="[0-9]*"/memory_bytes="107374"/' \
    inception.cluster.xml >tight.xml
ok "a device without room" grep -q 107374 tight.xml
mkdir tight
cp inception.graphml tight
mv tight.xml tight/inception.cluster.xml
cd tight || exit 99
moirai-emit -q --no-strengthen --memory none --fusion default \
    inception.graphml -o none.lp
moirai-emit -q --no-strengthen --fusion default inception.graphml -o static.lp
for memory in none static; do
    sed '/^moirai_/d' ../all-a >$memory.sol
    sed -n 's/^. identity: \(.*\)/\1 1/p' $memory.lp >>$memory.sol
done
is_rule()
{
    is "$1" "$(grep '^rules ' "$work/out" | sed 's/^rules *//')" "$2"
}
exits "too much for a device, where memory does not count" 0 \
    moirai-check none.sol
is_rule "which is reported" \
    "congestion port, tensors per-edge, memory none (from the solution)"
exits "but where it is asked for" 4 moirai-check --memory static none.sol
ok "it does" grep -q '(1d) device A needs' "$work/out"
is_rule "with its source" "congestion port (from the solution), tensors \
per-edge (from the solution), memory static (given)"
exits "as JSON" 4 moirai-check --json --memory static none.sol
ok "likewise" grep -q '"congestion": "solution", .*"memory": "given"' \
    "$work/out"
exits "where it counts" 4 moirai-check static.sol
for edit in 's/\.static\./.none./' 's/\.static\./.live./' \
    's/\.port\./.none./' 's/per_edge/once/' 's/\.default\./.none./'; do
    sed "/^moirai_o/$edit" static.sol >forged.sol
    ends "edited: $edit" "1 4" moirai-check forged.sol
    ends "and the rule given: $edit" "1 4" moirai-check --memory static \
        --congestion port --tensors per-edge forged.sol
done
sed 's/\.static\./.none./' static.sol >forged.sol
exits "an edited option" 4 moirai-check forged.sol
ok "is named" grep -q 'the identity columns were edited' "$work/out"
exits "in moirai-exec" 4 moirai-exec --dry-run forged.sol
exits "rules that are given there" 4 moirai-exec --dry-run --memory static \
    --random-weights 1 none.sol
ok "take precedence" grep -q '(1d) device A needs' "$work/err"
complains "a graph alone has none" 2 "not judged by rules" moirai-exec \
    --dry-run --memory static inception.graphml
exits "in moirai-info" 0 moirai-info forged.sol
ok "too" grep -q '^identity  *edited$' "$work/out"
sed 's/\(moirai_o_.*\)\.[0-9a-f]* 1$/\1 1/' none.sol >old.sol
exits "without a digest" 4 moirai-check old.sol
ok "the rules are wanted" grep -q 'give the rules to judge by' "$work/out"
exits "given" 0 moirai-check --memory none --congestion port \
    --tensors per-edge old.sol
is_rule "they are those" \
    "congestion port, tensors per-edge, memory none (given)"
exits "and tested" 4 moirai-check --memory static --congestion port \
    --tensors per-edge old.sol
cd .. || exit 99

# Other rules are another schedule of the same placement and order.
moirai-emit -q --fusion default --congestion none --memory none \
    inception.graphml -o free.lp
moirai-solve -q free.lp >out
for congestion in none port channel link; do
    for tensors in per-edge once; do
        ends "$congestion $tensors" "0 4" moirai-check --json \
            --congestion $congestion --tensors $tensors free.sol
        is "is what is judged by" \
            "$(value congestion) $(value tensors) $(value memory)" \
            "\"$congestion\" \"$tensors\" \"none\""
        ok "with a makespan" test -n "$(value makespan_us)"
    done
done
exits "no rule is dropped" 4 moirai-check --memory static \
    --tolerance 1e-4 "$work/tight/none.sol" -g "$work/tight/inception.graphml" \
    -c "$work/tight/inception.cluster.xml"
ok "not the tolerance either" grep -q '^tolerance  *0.0001 (given)' out

# In a bundle: the names of two rules have the same length.
moirai-exec -q --dry-run --random-weights 1 --bundle good.tar model.sol \
    >out 2>err
if [ -s good.tar ]; then
    sed 's/\(moirai_o_compact\)\.port\./\1.none./' good.tar >bad.tar
    exits "an edited bundle" 4 moirai-check bad.tar
    exits "is not run" 4 moirai-exec --dry-run --random-weights 1 bad.tar
else
    skip "an edited bundle" "no bundle could be written"
    skip "is not run" "no bundle could be written"
fi

# statuses that deny the values below them

sed 's/^# status: .*/# status: infeasible/' model.sol >denied.sol
complains "infeasible above values" 3 "it says: infeasible" \
    moirai-check -q denied.sol

# A file that was cut is valid by its placement; its comments are of another.
sed '/^moirai_/d' model.sol >cut.sol
exits "without its identity columns" 0 moirai-check --graph inception.graphml \
    --fusion default cut.sol
ok "no claim is reported" test -z "$(grep '^claimed' out)"
exits "with them" 0 moirai-check model.sol
ok "it is" grep -q '^claimed  *optimal by' out

# a solver that changes the model

cp model.lp changed.lp
complains "a model that a solver changes" 1 "was changed while a solver ran" \
    moirai-solve -q --cross-check 0 -o changed.sol \
    --command 'sh -c "echo >>changed.lp; cp model.sol \"$1\"" - {solution} {model}' \
    changed.lp
ok "has no answer" test ! -e changed.sol

# the column of the known schedule

{ sed '/^k /d' model.sol && echo 'k 0.5'; } >k.sol
exits "column k in part" 4 moirai-check k.sol
ok "is named" grep -q 'column k is 0.5' out
{ sed '/^k /d' model.sol && echo 'k 2'; } >k.sol
exits "column k twice" 4 moirai-check k.sol
ok "is named" grep -q 'column k is 2' out
done_testing
