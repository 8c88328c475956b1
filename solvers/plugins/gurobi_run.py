# SPDX-License-Identifier: Apache-2.0
"""gurobi_run.py [Parameter=value...] [InputFile=FILE] ResultFile=FILE MODEL

What gurobi_cl does, by Python's package, which has no such program.  The
result has the status and the bound in its comments; it is written under
another name first, so that it is there whole or not at all.

SIGINT ends the search, whenever it comes, and the best solution is written.  A
thread waits for it, because an exception may end Python anywhere.
"""
import os
import signal
import sys
import threading

signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})


def fail(text):
    print("error:", " ".join(str(text).split()), flush=True)
    sys.exit(1)


try:
    import gurobipy
    from gurobipy import GRB
except ImportError as missing:
    fail(f"Python has no gurobipy: {missing}")

ENDS = {
    GRB.OPTIMAL: "optimal",
    GRB.INFEASIBLE: "infeasible",
    GRB.INF_OR_UNBD: "unbounded",
    GRB.UNBOUNDED: "unbounded",
}


def explain(error):
    if error.errno == GRB.Error.SIZE_LIMIT_EXCEEDED:
        return (
            "the model is larger than Gurobi's licence for small models"
            " allows; another licence (GRB_LICENSE_FILE) or another solver"
            " takes it"
        )
    if error.errno == GRB.Error.NO_LICENSE:
        return f"no licence for Gurobi: {error}"
    return f"Gurobi says: {error}"


def write(model, path):
    has_solution = model.SolCount > 0
    end = ENDS.get(model.Status, "feasible" if has_solution else "none")
    with open(path + ".part", "w", encoding="ascii") as file:
        print("# status:", end, file=file)
        if model.IsMIP and abs(model.ObjBound) < 1e20:
            print("# bound:", repr(model.ObjBound), file=file)
        if has_solution:
            print("=obj=", repr(model.ObjVal), file=file)
            for variable in model.getVars():
                print(variable.VarName, repr(variable.X), file=file)
    os.replace(path + ".part", path)


def end_on_interrupt(model, is_done):
    signal.sigwait({signal.SIGINT})
    # A search that has not begun is not ended.
    while not is_done.wait(0.05):
        model.terminate()


def optimize(model):
    is_done = threading.Event()
    threading.Thread(
        target=end_on_interrupt, args=(model, is_done), daemon=True
    ).start()
    model.optimize()
    is_done.set()


def run(arguments):
    settings = dict(word.split("=", 1) for word in arguments[:-1])
    result = settings.pop("ResultFile")
    start = settings.pop("InputFile", None)
    with gurobipy.read(arguments[-1]) as model:
        for name, value in settings.items():
            model.setParam(name, float(value))
        if start:
            model.read(start)
        optimize(model)
        write(model, result)


def main():
    if sys.argv[1:] == ["--version"]:
        version = ".".join(str(part) for part in gurobipy.gurobi.version())
        print("Gurobi Optimizer version", version)
        return
    try:
        run(sys.argv[1:])
    except gurobipy.GurobiError as error:
        fail(explain(error))
    except OSError as error:
        fail(error)


main()
