#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# make_solutions.sh FOLDER
#
# Writes what each solver answers to five small models (optimal, feasible at a
# limit, infeasible, unbounded, none at the limit) into FOLDER, as
# <solver>-<version>-<case>.<ending>: the samples of tests/solutions.  CPLEX's
# are not made here: they follow its published schema by hand.
#
# Needs python (MOIRAI_PYTHON) with gurobipy, pyscipopt and highsbox, a C
# compiler, cbc and glpsol.
set -eu

[ $# -eq 1 ] || {
    echo "usage: $0 FOLDER" >&2
    exit 2
}
mkdir -p "$1"
folder=$(cd "$1" && pwd)
python=${MOIRAI_PYTHON:-python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

cases="optimal feasible infeasible unbounded none"

# models

cat >optimal.lp <<'MODEL'
Minimize
 obj: w
Subject To
 identity: moirai_g_0123456789abcdef + moirai_c_fedcba9876543210
  + moirai_o_paper_ports_tensor_resident_none = 3
 place_0: x_0_0 + x_0_1 = 1
 place_1: x_1_0 + x_1_1 = 1
 memory_0: 600 x_0_0 + 600 x_1_0 <= 1000
 memory_1: 600 x_0_1 + 600 x_1_1 <= 1000
 order_0_1: s_1 - s_0 - 3.5 x_0_0 - 7 x_0_1 - 2 y_0_0_1 >= 0
 sent_0: y_0_0_1 - x_0_0 - x_1_1 >= -1
 end_1: w - s_1 - 2 x_1_0 - 1.25 x_1_1 >= 0
Bounds
 0 <= s_0 <= 1000
 0 <= s_1 <= 1000
 0 <= w <= 1000
 moirai_g_0123456789abcdef = 1
 moirai_c_fedcba9876543210 = 1
 moirai_o_paper_ports_tensor_resident_none = 1
Binaries
 x_0_0 x_0_1 x_1_0 x_1_1 y_0_0_1
End
MODEL

cat >infeasible.lp <<'MODEL'
Minimize
 obj: w
Subject To
 identity: moirai_g_0123456789abcdef + w >= 1
 place_0: x_0_0 + x_0_1 = 1
 memory_0: 600 x_0_0 <= 500
 memory_1: 600 x_0_1 <= 500
 end_0: w - 3 x_0_0 - 7 x_0_1 >= 0
Bounds
 moirai_g_0123456789abcdef = 1
Binaries
 x_0_0 x_0_1
End
MODEL

cat >unbounded.lp <<'MODEL'
Minimize
 obj: s_3 + w
Subject To
 identity: moirai_g_0123456789abcdef + w <= 20
 place_0: x_0_0 + x_0_1 = 1
 end_0: s_3 - 3 x_0_0 <= 4
Bounds
 s_3 free
 moirai_g_0123456789abcdef = 1
Binaries
 x_0_0 x_0_1
End
MODEL

# Market splits: few columns, and hard.  With slack any point is a solution,
# without it hardly one is.
market_split()
{
    awk -v slack="$1" '
    function random()
    {
        state = (state * 1103 + 12345) % 1048573
        return int(state / 7) % 100
    }
    BEGIN {
        rows = 4; columns = 30; state = 12345
        print "Minimize\n obj: w\nSubject To"
        print " identity: moirai_g_0123456789abcdef = 1"
        for (r = 0; r < rows; r++) {
            total = 0; left = ""
            for (c = 0; c < columns; c++) {
                a = random(); total += a
                left = left sprintf(" + %d x_%d_%d", a, c / 2, c % 2)
            }
            half = int(total / 2)
            if (!slack) {
                print " split_" r ":" left " = " half
                continue
            }
            print " below_" r ":" left " + s_" r " >= " half
            print " above_" r ":" left " - s_" r " <= " half
        }
        printf " total: w"
        for (r = 0; slack && r < rows; r++)
            printf " - s_%d", r
        print " >= " (slack ? 0 : 1)
        print "Bounds\n w <= 100000\nBinaries"
        for (c = 0; c < columns; c++)
            printf " x_%d_%d", c / 2, c % 2
        print "\nEnd"
    }'
}
market_split 1 >feasible.lp
market_split 0 >none.lp

# SCIP

packages=$("$python" -c 'import pyscipopt, os
print(os.path.dirname(os.path.dirname(pyscipopt.__file__)))')

cat >shell.c <<'SHELL'
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
    int (*shell)(int, char **, const char *);

    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    *(void **) &shell = dlsym(library, "SCIPrunShell");
    return shell(argc - 1, argv + 1, "scip.set") != 1;
}
SHELL
"${CC:-cc}" shell.c -o shell -ldl
library=$(echo "$packages"/pyscipopt.libs/libscip*)
scip=scip-$(./shell "$library" --version |
    sed -n 's/.*SCIP version \([0-9.]*\).*/\1/p')

for case in $cases; do
    limit=
    [ "$case" != feasible ] || limit="set limits solutions 1"
    [ "$case" != none ] || limit="set limits nodes 1"
    ./shell "$library" -q -c "read $case.lp $limit optimize
        write solution $folder/$scip-$case.sol quit" >scip.log
done
"$python" - "$folder/$scip-api.sol" "$folder/$scip-api-zeros.sol" <<'API'
import sys
import pyscipopt

model = pyscipopt.Model()
model.hideOutput()
model.readProblem("optimal.lp")
model.optimize()
model.writeBestSol(sys.argv[1], write_zeros=False)
model.writeBestSol(sys.argv[2], write_zeros=True)
API

# Gurobi

# The cases are words.
# shellcheck disable=SC2086
"$python" - "$folder" $cases >gurobi.log <<'GUROBI'
import sys
import gurobipy

version = ".".join(str(v) for v in gurobipy.gurobi.version())
for case in sys.argv[2:]:
    model = gurobipy.read(case + ".lp")
    model.Params.OutputFlag = 0
    if case == "feasible":
        model.Params.SolutionLimit = 1
    if case == "none":
        model.Params.TimeLimit = 0
    model.optimize()
    name = f"{sys.argv[1]}/gurobi-{version}-{case}"
    model.write(name + ".json")
    if model.SolCount > 0:
        model.write(name + ".sol")
        model.write(name + ".mst")
    if case == "optimal":
        model.Params.JSONSolDetail = 1
        model.write(name + "-detail.json")
GUROBI

# HiGHS

highs=$packages/highsbox/highs_dist
LD_LIBRARY_PATH=$highs/lib
export LD_LIBRARY_PATH
version=$("$highs/bin/highs" --version | sed -n 's/.*HiGHS version \([0-9.]*\).*/\1/p')

# run_highs STYLE NAME CASE MODEL
run_highs()
{
    {
        echo "write_solution_style = $1"
        [ "$3" != feasible ] || echo "mip_max_improving_sols = 1"
        [ "$3" != none ] || echo "time_limit = 0.02"
    } >options
    "$highs/bin/highs" --options_file options --solution_file \
        "$folder/highs-$version-$3$2.sol" "$4" >highs.log
}
sed '/^Binaries/,/^ x_/d' optimal.lp >relaxed.lp
for case in $cases; do
    run_highs 0 "" "$case" "$case.lp"
    run_highs 1 -pretty "$case" "$case.lp"
    run_highs 2 -glpk-plain "$case" "$case.lp"
    run_highs 3 -glpk "$case" "$case.lp"
    run_highs 4 -sparse "$case" "$case.lp"
done
run_highs 0 "" relaxed relaxed.lp
run_highs 1 -pretty relaxed relaxed.lp
unset LD_LIBRARY_PATH

# CBC and GLPK

cbc=cbc-$(cbc -quit | sed -n 's/^Version: *\([0-9.]*\).*/\1/p')
for case in $cases; do
    cbc "$case.lp" sec 1 solve solu "$folder/$cbc-$case.sol" >cbc.log
done
cbc optimal.lp printingOptions all solve solu "$folder/$cbc-optimal-rows.sol" \
    >cbc.log

glpk=glpk-$(glpsol --version | sed -n 's/.*Solver v*\([0-9.]*\).*/\1/p')
for case in $cases; do
    glpsol --lp "$case.lp" --tmlim 1 -o "$folder/$glpk-$case.txt" \
        -w "$folder/$glpk-$case-plain.txt" >glpk.log
done
glpsol --lp optimal.lp --nomip -o "$folder/$glpk-relaxed.txt" \
    -w "$folder/$glpk-relaxed-plain.txt" >glpk.log
glpsol --lp optimal.lp --nomip --interior -o "$folder/$glpk-interior.txt" \
    -w "$folder/$glpk-interior-plain.txt" >glpk.log
