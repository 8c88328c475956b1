# SPDX-License-Identifier: Apache-2.0
"""The paper's experiment, measured: networks placed by every method on unequal
devices, and executed there.

    experiment.py [OPTION]... [FILE]...

The networks are three of moirai-zoo's, with as many layers as --layers says,
and those of gpu_models.py, exported by moirai-export where PyTorch is; or the
graphs named.  The devices are parts of one GPU, with the paper's links between
them, or those of --devices:

    gpu:64,32,16,8@inter    parts by multiprocessors; links inter or intra
    cpu:2,1                 threads of this machine
    FILE                    a cluster, see moirai-cluster(5)

Each network is measured on each cluster, as it is and coarsened
(moirai-profile), placed by each method with the measured times (moirai-place),
and each placement is run (moirai-exec), all from the PATH. All results are
kept in the folder of --work; a step is repeated only if its inputs or the
commands have changed: the same command resumes an interrupted experiment. With
--stage the parts are run apart, so that placing may happen on another machine
between two turns on a GPU: the folder is all that travels.

    graphs    export and generate; the other stages do it where it is missing
    profile   measure ops and links, on the devices
    place     on processors only
    exec      run placements, on the devices
    report    write what there is: experiment.csv, .txt and .svg

As in

    experiment.py --layers 4 --stage profile --budget 540     on the GPU
    experiment.py --layers 4 --stage place --jobs 8           anywhere
    experiment.py --layers 4 --stage exec --budget 540        on the GPU

With --budget, steps run by priority: coarsened graphs before original ones,
each placement once before any a second time, Moirai and the methods of the
paper before the others; no step begins that cannot end in time.

In the end the rows are checked against limits: measured makespans are within
10 % of the predicted ones (median), Moirai is never behind another method by
more than the spread, reaches the paper's best ratios somewhere, and executors
are efficient; each violation is listed with its row and a reason. Exits 1 when
a limit is missed or a step failed, 77 when there is nothing to measure on. """
import concurrent.futures
import os
import signal
import sys

from experiment_judge import Judge
from experiment_options import METHODS, read_options
from experiment_rows import Row, csv_text, picture, table, with_moirai
from experiment_steps import DoesNotFit, NotYet, Steps
from experiment_store import Busy, Store, write_whole
from experiment_tools import Budget, Commands, Failed, OutOfTime

FIRST = METHODS[:4]
# With a budget, of which exec must have something.
PREPARING = 0.6
SKIPPED, INTERRUPTED = 77, 130


def say(text):
    print(f"      {text}", file=sys.stderr, flush=True)


class Experiment:
    """failed: steps that failed; late: steps without time left; lacking: steps
    without their inputs; reasons: why."""

    def __init__(self, options, store, commands):
        self.options, self.store, self.commands = options, store, commands
        self.budget = Budget(options.budget)
        self.steps = Steps(options, store, commands, self.budget)
        self.failed, self.late, self.lacking = set(), set(), set()
        self.reasons = {}
        self.durations = {}  # of the last step of a stage, by model

    def attempt(self, what, step, *arguments):
        """Runs the step unless its result is kept; prints its outcome; returns
        whether it is done."""
        try:
            seconds = step(*arguments)
        except OutOfTime:
            return self.leave(what, "there was no time left", self.late)
        except NotYet as reason:
            return self.leave(what, reason, self.lacking)
        except Failed as reason:
            say(f"{what}: {reason}")
            return self.leave(what, reason, self.failed)
        if seconds is not None:
            say(f"{what}: {seconds:.1f} s")
        return True

    def leave(self, what, reason, among):
        among.add(what)
        self.reasons[what] = str(reason)
        return False

    def attempt_in_time(self, what, step, instance, *more):
        """Not begun if the last step of its kind took longer than the time
        left."""
        kind = (step.__name__, instance.model.name)

        def timed():
            if not self.steps.budget.lasts(self.durations.get(kind, 0)):
                raise OutOfTime
            seconds = step(instance, *more)
            if seconds is not None:
                self.durations[kind] = seconds
            return seconds

        return self.attempt(what, timed)

    def asks(self, stage):
        return stage in self.options.stages

    def measures(self):
        return self.asks("graphs") or self.asks("profile")

    def make_graphs(self):
        """Models that cannot be made are left out.  If nothing is measured
        anew, those already measured are used as they are."""
        there = {}
        for model in self.options.models:
            missing = model.missing()
            if self.steps.has_graph(model) and (missing or not self.measures()):
                there[model.name] = model
            elif missing:
                print(f"SKIP  {model.name}: {missing}")
            elif self.attempt(f"{model.name}: graph", self.steps.make_graph,
                              model):
                there[model.name] = model
        self.options.instances = [
            instance for instance in self.options.instances
            if instance.model.name in there
        ]

    def profile_and_place(self):
        """Placement overlaps with measurements on a GPU, but not with those on
        processors."""
        if self.asks("exec"):
            self.steps.budget = self.budget.part(PREPARING)
        pool = concurrent.futures.ThreadPoolExecutor(self.options.jobs)
        placing = []
        try:
            for instance in self.options.instances:
                if self.asks("profile"):
                    self.attempt_in_time(f"{instance}: profile",
                                         self.steps.profile, instance)
                placing += self.place(instance, pool)
                if not instance.cluster.apart:
                    concurrent.futures.wait(placing)
            for one in placing:
                one.result()
            pool.shutdown()
        except BaseException:
            self.commands.stop()
            pool.shutdown(cancel_futures=True)
            raise
        self.steps.budget = self.budget

    def place(self, instance, pool):
        if not self.asks("place"):
            return []
        return [
            pool.submit(self.place_one, instance, method)
            for method in self.options.methods
        ]

    def place_one(self, instance, method):
        """Its duration depends on the method: started while time is left."""

        def begun():
            if not self.steps.budget.lasts(0):
                raise OutOfTime
            return self.steps.place(instance, method)

        self.attempt(f"{instance} {method}: place", begun)

    def execution_order(self):
        """Returns (instance, method) by priority, for one round."""
        first = [m for m in self.options.methods if m in FIRST]
        others = [m for m in self.options.methods if m not in FIRST]
        return [
            (instance, method)
            for methods in (first, others)
            for instance in self.options.instances
            for method in methods
        ]

    def execute_all(self):
        """A failed execution is not repeated."""
        order = self.execution_order()
        for number in range(self.options.repeats):
            order = [pair for pair in order if self.execute(*pair, number)]

    def execute(self, instance, method, number):
        """Runs repetition number, unless it is kept."""
        what = f"{instance} {method}: exec"
        try:
            kept = self.steps.kept_executions(instance, method)
        except NotYet as reason:
            return self.leave(what, reason, self.lacking)
        except DoesNotFit:
            return False
        if len(kept) > number:
            return True
        return self.attempt_in_time(what, self.steps.execute, instance, method)

    def rows(self):
        rows = []
        for instance in self.options.instances:
            rows += with_moirai([
                self.row(instance, method) for method in self.options.methods
            ])
        return rows

    def row(self, instance, method):
        """Reports what was executed, even if time ran out for more."""
        executions = self.steps.executions(instance, method)
        steps = (f"{instance}: profile", f"{instance} {method}: place",
                 f"{instance} {method}: exec")
        undone = [self.reasons[what] for what in steps if what in self.reasons
                  and not (executions and what in self.late)]
        return Row(instance, method, self.steps.placement(instance, method),
                   executions, undone[0] if undone else None)

    def report(self):
        """Writes the report; returns whether all limits hold."""
        rows = self.rows()
        judge = Judge(rows)
        lines = table(rows, judge.notes)
        for name, text in (("csv", csv_text(rows)), ("txt", lines),
                           ("svg", picture(rows, self.options.methods))):
            write_whole(self.store.path(f"experiment.{name}"), text)
        print(lines, flush=True)
        return judge.judge()

    def run(self):
        self.make_graphs()
        if not self.options.instances:
            print("SKIP  there is no network to place")
            return SKIPPED
        if self.asks("profile") or self.asks("place"):
            self.profile_and_place()
        if self.asks("exec"):
            self.execute_all()
        holds = not self.asks("report") or self.report()
        return 0 if self.conclude() and holds else 1

    def conclude(self):
        """Returns whether everything possible was done.  Steps whose inputs
        are missing for lack of time do not count as possible."""
        if self.late:
            say(f"{len(self.late)} steps are left: the same command goes on")
        elif self.lacking:
            what = min(self.lacking)
            say(f"{what}: {self.reasons[what]}; {len(self.lacking)} like it")
        return not self.failed and (self.late or not self.lacking)


def lacks_gpu(options, commands):
    """Returns whether GPUs are to be measured and none is present."""
    measures = {"profile", "exec"} & set(options.stages)
    emulated = any(i.cluster.running for i in options.instances)
    return (measures and emulated
            and "no GPU" in commands.version("moirai-exec"))


def interrupt(_number, _frame):
    raise KeyboardInterrupt


def run(commands):
    options = read_options(__doc__, commands)
    if lacks_gpu(options, commands):
        print("SKIP  there is no GPU; --devices cpu:2,1 does without")
        return SKIPPED
    store = Store(options.work, options.fresh)
    with store.locked():
        return Experiment(options, store, commands).run()


def main():
    signal.signal(signal.SIGTERM, interrupt)
    # moirai-export finds PyTorch where it is looked for here.
    os.environ["MOIRAI_PYTHON"] = sys.executable
    try:
        return run(Commands())
    except KeyboardInterrupt:
        say("stopped: the same command goes on")
        return INTERRUPTED
    except Busy as folder:
        say(f"another experiment works in {folder}")
        return 1
    except (Failed, OSError) as reason:
        say(str(reason))
        return 1


if __name__ == "__main__":
    sys.exit(main())
