# SPDX-License-Identifier: Apache-2.0
"""Compares the results of all installed solvers on model files.

    agree.py LIST [COUNT]

COUNT is the number of TAP claims made before.  Each line of LIST is a claim
about STEM.lp and STEM.mps, read by the solvers in SOLVERS (CBC,SCIP), or by
all:

    counts SOLVERS STEM         same rows, columns, non-zeros and integers
    optimum SOLVERS STEM        same optimum, or infeasible for all
    optimum SOLVERS STEM VALUE  this optimum

Prints TAP.  HiGHS is loaded from MOIRAI_HIGHS_LIB, SCIP and Gurobi as Python
packages, CBC and GLPK are run as programs.  Missing solvers are left out; an
installed one that gives no result fails its claims.
"""
import concurrent.futures
import ctypes
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile

# A solver that takes longer has failed: no claim may hang.
LIMIT_SECONDS = 600
AT_A_TIME = 2
TOLERANCE = 1e-6
INFEASIBLE = math.inf
solvers = {}


class Highs:
    name = "HiGHS"
    OPTIMAL, INFEASIBLE, TIME_LIMIT = 7, 8, 13

    def __init__(self):
        self.lib = ctypes.CDLL(os.environ["MOIRAI_HIGHS_LIB"])
        self.lib.Highs_create.restype = ctypes.c_void_p
        self.lib.Highs_getObjectiveValue.restype = ctypes.c_double

    def _read(self, path):
        highs = ctypes.c_void_p(self.lib.Highs_create())
        self.lib.Highs_setBoolOptionValue(highs, b"output_flag", 0)
        self.lib.Highs_setIntOptionValue(highs, b"threads", 1)
        for option, value in (
            (b"mip_rel_gap", 0.0),
            (b"time_limit", float(LIMIT_SECONDS)),
        ):
            self.lib.Highs_setDoubleOptionValue(
                highs, option, ctypes.c_double(value)
            )
        if self.lib.Highs_readModel(highs, path.encode()) != 0:
            raise ValueError("cannot be read")
        return highs

    def counts(self, path):
        highs = self._read(path)
        columns = self.lib.Highs_getNumCol(highs)
        kind = ctypes.c_int(0)
        integers = 0
        for column in range(columns):
            status = self.lib.Highs_getColIntegrality(
                highs, column, ctypes.byref(kind)
            )
            integers += status == 0 and kind.value != 0
        found = (
            self.lib.Highs_getNumRow(highs),
            columns,
            self.lib.Highs_getNumNz(highs),
            integers,
        )
        self.lib.Highs_destroy(highs)
        return found

    def optimum(self, path):
        highs = self._read(path)
        self.lib.Highs_run(highs)
        status = self.lib.Highs_getModelStatus(highs)
        value = self.lib.Highs_getObjectiveValue(highs)
        self.lib.Highs_destroy(highs)
        if status == self.TIME_LIMIT:
            raise ValueError("out of time")
        if status == self.INFEASIBLE:
            return INFEASIBLE
        if status != self.OPTIMAL:
            raise ValueError(f"status {status}")
        return value


class Scip:
    name = "SCIP"

    def __init__(self):
        import pyscipopt

        self.Model = pyscipopt.Model

    def _read(self, path):
        model = self.Model()
        model.hideOutput()
        model.readProblem(path)
        return model

    def counts(self, path):
        model = self._read(path)
        rows = model.getConss()
        return (
            len(rows),
            model.getNVars(),
            sum(len(model.getValsLinear(row)) for row in rows),
            model.getNBinVars() + model.getNIntVars(),
        )

    def optimum(self, path):
        model = self._read(path)
        model.setParam("limits/time", LIMIT_SECONDS)
        model.optimize()
        status = model.getStatus()
        if status == "infeasible":
            return INFEASIBLE
        if status != "optimal":
            raise ValueError(f"status {status}")
        return model.getObjVal()


class Gurobi:
    name = "Gurobi"

    def __init__(self):
        import gurobipy

        self.gurobi = gurobipy
        self.env = gurobipy.Env(params={"OutputFlag": 0, "Threads": 1})

    def _read(self, path):
        return self.gurobi.read(path, env=self.env)

    def counts(self, path):
        model = self._read(path)
        return model.NumConstrs, model.NumVars, model.NumNZs, model.NumIntVars

    def optimum(self, path):
        model = self._read(path)
        model.Params.MIPGap = 0
        model.Params.TimeLimit = LIMIT_SECONDS
        model.optimize()
        status = self.gurobi.GRB.Status
        if model.Status in (status.INFEASIBLE, status.INF_OR_UNBD):
            return INFEASIBLE
        if model.Status != status.OPTIMAL:
            raise ValueError(f"status {model.Status}")
        return model.ObjVal


def run(*command):
    """Returns the output of a program, run with no input and a timeout."""
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=LIMIT_SECONDS + 60,
        check=False,
    )
    return done.stdout.decode(errors="replace")


def end_of(log):
    return "output: " + log[-300:].replace("\n", " / ")


def numbers(pattern, text):
    found = re.search(pattern, text)
    if not found:
        raise ValueError(end_of(text))
    return tuple(int(number) for number in found.groups())


class Program:
    """A solver that is run by its command line."""

    def __init__(self):
        self.program = shutil.which(self.command)
        if not self.program:
            raise ImportError(self.command)

    def _solve(self, *arguments):
        """Returns its output, and the text of the file named last."""
        with tempfile.TemporaryDirectory() as folder:
            answer = os.path.join(folder, "answer")
            log = run(self.program, *arguments, answer)
            if not os.path.exists(answer):
                return log, ""
            with open(answer, encoding="ascii") as file:
                return log, file.read()


class Cbc(Program):
    name = "CBC"
    command = "cbc"

    def counts(self, path):
        log = run(self.program, path, "presolve", "off", "stat", "quit")
        integers = (0,)
        if "Original problem has" in log:
            integers = numbers(r"Original problem has (\d+) integers", log)
        return numbers(
            r"Problem has (\d+) rows, (\d+) columns .*and (\d+) elements", log
        ) + integers

    def optimum(self, path):
        log, text = self._solve(
            path, "ratio", "0", "allow", "0", "sec", str(LIMIT_SECONDS),
            "solve", "solu",
        )
        status = text.split("\n", 1)[0]
        if status.startswith(("Infeasible", "Integer infeasible")):
            return INFEASIBLE
        found = re.match(r"Optimal - objective value +(\S+)", status)
        if not found:
            raise ValueError(status or end_of(log))
        return float(found.group(1))


class Glpk(Program):
    name = "GLPK"
    command = "glpsol"

    @staticmethod
    def _format(path):
        return "--lp" if path.endswith(".lp") else "--freemps"

    def counts(self, path):
        log = run(self.program, self._format(path), path, "--check")
        integers = (0,)
        if "One variable is" in log:
            integers = (1,)
        elif "integer variable" in log:
            integers = numbers(r"(\d+) integer variable", log)
        # GLPK counts the objective of an MPS file among the rows while
        # reading, but not in its table.
        return numbers(
            r"Number of rows += +(\d+)\n"
            r"Number of columns += +(\d+)\n"
            r"Number of non-zeros \(matrix\) += +(\d+)\n",
            log,
        ) + integers

    def optimum(self, path):
        log, text = self._solve(
            self._format(path), path, "--cuts", "--pcost",
            "--tmlim", str(LIMIT_SECONDS), "-o",
        )
        if re.search("NO (PRIMAL|INTEGER) FEASIBLE SOLUTION", log):
            return INFEASIBLE
        if not re.search(r"Status: +(INTEGER )?(OPTIMAL|EMPTY)", text):
            raise ValueError(end_of(log))
        if "EMPTY" in text:
            return INFEASIBLE
        return float(re.search(r"Objective: +\S+ = (\S+)", text).group(1))


def available():
    """Returns the installed solvers; prints the others as comments."""
    kinds = []
    for kind in (Highs, Scip, Gurobi, Cbc, Glpk):
        try:
            kind()
            kinds.append(kind)
        except (ImportError, KeyError, OSError) as error:
            print(f"# {kind.name} is not here: {error}")
        except Exception as error:  # Gurobi's own, for want of a licence
            print(f"# {kind.name} does not start: {error}")
    return kinds


def open_all(kinds):
    """Opens the solvers in each worker process: handles cannot be shared."""
    solvers.update((kind.name, kind()) for kind in kinds)


def evaluate(name, check, path):
    """Returns the result of a solver, or the error as a text."""
    try:
        return getattr(solvers[name], check)(path)
    except Exception as error:
        return f"failed: {error}"


class Claim:
    TEXTS = {"counts": "count the same", "optimum": "find the same optimum"}

    def __init__(self, line, names):
        self.check, chosen, self.stem, *value = line.split()
        self.wanted = float(value[0]) if value else None
        self.names = [
            name for name in names
            if chosen == "all" or name in chosen.split(",")
        ]
        self.results = {}

    def submit(self, pool):
        for name in self.names:
            for path in (self.stem + ".lp", self.stem + ".mps"):
                self.results[f"{name} {os.path.basename(path)}"] = pool.submit(
                    evaluate, name, self.check, path
                )

    def holds(self):
        """Waits for the results; prints those that differ."""
        results = {key: to_be.result() for key, to_be in self.results.items()}
        wanted = self.wanted
        if wanted is None:
            wanted = next(iter(results.values()), None)
        odd = {k: r for k, r in results.items() if not equal(r, wanted)}
        for key, result in odd.items():
            print(f"# {key}: {result}, not {wanted}")
        return bool(results) and not odd

    def __str__(self):
        return (f"{', '.join(self.names)} {self.TEXTS[self.check]} in "
                f"{os.path.basename(self.stem)}")


def equal(one, other):
    if isinstance(one, str) or isinstance(other, str):
        return False
    if isinstance(one, tuple):
        return one == other
    if math.isinf(one) or math.isinf(other):
        return one == other
    return abs(one - other) <= TOLERANCE * max(1, abs(other))


def main():
    number = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    kinds = available()
    names = [kind.name for kind in kinds]
    with open(sys.argv[1], encoding="utf-8") as lines:
        claims = [Claim(line, names) for line in lines]
    sys.stdout.flush()
    with concurrent.futures.ProcessPoolExecutor(
        AT_A_TIME, initializer=open_all, initargs=(kinds,)
    ) as pool:
        for claim in claims:
            claim.submit(pool)
        for number, claim in enumerate(claims, number + 1):
            verdict = "ok" if claim.holds() else "not ok"
            print(f"{verdict} {number} - {claim}", flush=True)
    print(f"1..{number}")


if __name__ == "__main__":
    main()
