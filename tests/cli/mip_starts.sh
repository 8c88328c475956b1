#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tags: no-sanitizers
# The MIP starts that moirai-emit writes are accepted by the solvers they are
# for: the log of each solver reports a first solution and its value.
. "${top_srcdir:=.}/tests/support/tap.sh"

python=${MOIRAI_PYTHON:-python3}
data=${MOIRAI_DATA:-$top_srcdir/../shared/data}

has()
{
    "$python" -c "import $1" 2>/dev/null
}

# Prints the path of the HiGHS program, which finds its library only by
# LD_LIBRARY_PATH.
highs_program()
{
    "$python" -c 'import highsbox; print(highsbox.highs_bin_path())' \
        2>/dev/null || command -v highs
}

highs=$(highs_program) && [ -x "$highs" ] || highs=
scip=$(has pyscipopt && echo yes)
gurobi=$(has gurobipy && echo yes)
cbc=$(command -v cbc)
[ -n "$highs$scip$gurobi$cbc" ] || skip_all "there is no solver"

# Prints the objective that the start claims.
claimed()
{
    sed -n '1s/^=obj= //p' "$work/start.sol"
}

# Returns whether both numbers are equal, to a relative tolerance of 1e-6.
same_number()
{
    awk -v a="$1" -v b="$2" 'BEGIN {
        d = a - b; if (d < 0) d = -d; exit !(d <= 1e-6 * (1 + b)) }'
}

highs_start()
{
    LD_LIBRARY_PATH=$(dirname "$highs")/../lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} \
        "$highs" --time_limit 1 --read_solution_file "$work/start.sol" \
        "$work/model.$form" |
        sed -n 's/.*MIP start solution is feasible, objective value is //p'
}

scip_start()
{
    "$python" - "$work/model.$form" "$work/start.sol" <<'END'
import sys
import pyscipopt
model = pyscipopt.Model()
model.hideOutput()
model.readProblem(sys.argv[1])
solution = model.readSolFile(sys.argv[2])
if model.checkSol(solution):
    print(model.getSolObjVal(solution))
END
}

gurobi_start()
{
    "$python" - "$work/model.$form" "$work/start.mst" <<'END' |
import sys
import gurobipy
with gurobipy.Env(params={"TimeLimit": 1}) as env:
    model = gurobipy.read(sys.argv[1], env=env)
    model.read(sys.argv[2])
    model.optimize()
END
        sed -n 's/^.*user MIP start with objective //p;
                s/^User MIP start produced solution with objective \([^ ]*\).*/\1/p' |
        sed 1q
}

cbc_start()
{
    cbc "$work/model.$form" -sec 1 -mips "$work/start.cbc" -solve |
        sed -n 's/.*MIPStart provided solution with cost //p'
}

check()
{
    got=$("$1_start" 2>"$work/err")
    if same_number "${got:-none}" "$(claimed)"; then
        pass "$1 starts from it: $2"
    else
        fail "$1 starts from it: $2"
        echo "claimed $(claimed), got '$got'" | comment
        comment <"$work/err"
    fi
}

try()
{
    graph=$1
    form=$2
    shift 2
    variant="$(basename "$graph") $form $*"
    for layout in sol mst cbc; do
        exits "a start as .$layout: $variant" 0 moirai-emit -q \
            --no-strengthen "$@" --start "$work/start.$layout" -o "$work/model.$form" "$graph"
    done
    for solver in highs scip gurobi cbc; do
        eval "found=\$$solver"
        if [ -n "$found" ]; then
            check "$solver" "$variant"
        else
            skip "$solver: $variant" "it is not installed"
        fi
    done
}

try "$top_srcdir/examples/inception.graphml" lp
try "$top_srcdir/examples/inception.graphml" mps
try "$top_srcdir/examples/inception.graphml" lp --formulation paper
try "$top_srcdir/examples/inception.graphml" lp --congestion link --memory live
if in_ci; then
    try "$top_srcdir/examples/inception.graphml" mps --formulation paper
    try "$top_srcdir/examples/inception.graphml" lp --congestion none
    try "$top_srcdir/examples/inception.graphml" lp --formulation pesto
fi
if [ -e "$data/authors/example-1.graphml" ]; then
    try "$data/authors/example-1.graphml" lp --tensors per-edge
else
    skip "the authors' example" "it is not there"
fi

done_testing
