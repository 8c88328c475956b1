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
(moirai-profile), placed by each method with what was measured (moirai-place),
and each placement is run (moirai-exec), all from the PATH.  All is kept in the
folder of --work and is done again only where what it is made from has changed,
or a command: stopped at any moment, the same command goes on.  With --stage the
parts are run apart, so that placing may happen on another machine between two
turns on a GPU: the folder is all that travels.

    graphs    export and generate; the other stages do it where it is missing
    profile   measure ops and links, on the devices
    place     on processors only
    exec      run placements, on the devices
    report    write what there is: experiment.csv, .txt and .svg

With --budget, what shows most comes first: coarsened graphs before original
ones, each placement once before any a second time, Moirai and those it is held
against in print before the others; nothing is begun that cannot end in time.

In the end limits are held against the rows: measured makespans are within 10 %
of the predicted ones (median), Moirai is never behind another method by more
than the spread, reaches the paper's best ratios somewhere, and executors are
efficient; what does not hold has its row and a reason.  Exits 1 when a limit is
missed or a step failed, 77 when there is nothing to measure on.
"""
import argparse
import concurrent.futures
import fnmatch
import os
import shlex
import signal
import sys

import experiment_clusters
from experiment_judge import Judge
from experiment_models import all_models
from experiment_rows import Row, csv_text, picture, table, with_moirai
from experiment_steps import GRAPHS, Instance, NotYet, Steps
from experiment_store import Busy, Store, write_whole
from experiment_tools import Budget, Commands, Failed, OutOfTime, Stopped

# In the order of what they show.
METHODS = ("moirai", "m-sct", "getf", "single", "m-etf", "heft", "m-topo",
           "peft", "pesto", "hare")
LEARNED = ("placeto", "hrl")  # where moirai-place has them
FIRST = METHODS[:4]
# With a budget, of which exec must have something.
PREPARING = 0.6
STAGES = ("graphs", "profile", "place", "exec", "report")
USAGE, SKIPPED, INTERRUPTED = 2, 77, 130


def say(text):
    print(f"      {text}", file=sys.stderr, flush=True)


class Experiment:
    """failed are steps that went wrong, late those there was no time for;
    reasons tells of all that were not done."""

    def __init__(self, options, store, commands):
        self.options, self.store, self.commands = options, store, commands
        self.budget = Budget(options.budget)
        self.steps = Steps(options, store, commands, self.budget)
        self.failed, self.late, self.reasons = set(), set(), {}
        self.durations = {}  # of the last step of a stage, by model

    def attempt(self, what, step, *arguments):
        """Whether the step is done; says how it went where it had to be."""
        try:
            seconds = step(*arguments)
        except NotYet as reason:
            self.reasons[what] = str(reason)
            return False
        except OutOfTime:
            return self.postpone(what)
        except Failed as reason:
            self.failed.add(what)
            self.reasons[what] = str(reason)
            say(f"{what}: {reason}")
            return False
        if seconds is not None:
            say(f"{what}: {seconds:.1f} s")
        return True

    def postpone(self, what):
        self.late.add(what)
        self.reasons[what] = "there was no time left"
        return False

    def attempt_in_time(self, what, step, instance, *more):
        """Not begun where the last one of its kind took longer than there is
        time."""
        kind = (step.__name__, instance.model.name)
        if not self.steps.budget.lasts(self.durations.get(kind, 0)):
            return self.postpone(what)

        def timed():
            seconds = step(instance, *more)
            if seconds is not None:
                self.durations[kind] = seconds
            return seconds

        return self.attempt(what, timed)

    def asks(self, stage):
        return stage in self.options.stages

    def make_graphs(self):
        """Models that cannot be had are left out."""
        there = {}
        for model in self.options.models:
            missing = model.missing()
            if missing and not self.steps.has_graph(model):
                print(f"SKIP  {model.name}: {missing}")
            elif missing or self.attempt(f"{model.name}: graph",
                                         self.made_graph, model):
                there[model.name] = model
        self.options.instances = [
            instance for instance in self.options.instances
            if instance.model.name in there
        ]

    def made_graph(self, model):
        self.steps.make_graph(model)

    def profile_and_place(self):
        """Placing goes on while a GPU measures the next; on processors nothing
        else may go on."""
        if self.asks("exec"):
            self.steps.budget = self.budget.part(PREPARING)
        jobs = self.options.jobs
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            try:
                for instance in self.options.instances:
                    if self.asks("profile"):
                        self.attempt_in_time(f"{instance}: profile",
                                             self.steps.profile, instance)
                    placing = self.place(instance, pool)
                    if not instance.cluster.apart:
                        concurrent.futures.wait(placing)
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
        """How long that takes is another thing for each method."""
        what = f"{instance} {method}: place"
        if not self.steps.budget.lasts(0):
            self.postpone(what)
            return
        try:
            self.attempt(what, self.steps.place, instance, method)
        except Stopped:
            pass

    def execution_order(self):
        """(instance, method) of what shows most, for one round."""
        first = [m for m in self.options.methods if m in FIRST]
        others = [m for m in self.options.methods if m not in FIRST]
        return [
            (instance, method)
            for methods in (first, others)
            for instance in self.options.instances
            for method in methods
        ]

    def execute_all(self):
        """An execution that failed is not tried again."""
        order = self.execution_order()
        for number in range(self.options.repeats):
            order = [pair for pair in order if self.execute(*pair, number)]

    def execute(self, instance, method, number):
        """For the time of this number, unless that is kept."""
        what = f"{instance} {method}: exec"
        try:
            kept = self.steps.kept_executions(instance, method)
        except NotYet as reason:
            self.reasons[what] = str(reason)
            return False
        if len(kept) > number:
            return True
        return self.attempt_in_time(what, self.steps.execute, instance, method)

    def rows(self):
        rows = []
        for instance in self.options.instances:
            rows += with_moirai([
                Row(instance, method, self.steps.placement(instance, method),
                    self.steps.executions(instance, method),
                    self.why(instance, method))
                for method in self.options.methods
            ])
        return rows

    def why(self, instance, method):
        """The first thing that went wrong."""
        for what in (f"{instance}: profile", f"{instance} {method}: place",
                     f"{instance} {method}: exec"):
            if what in self.reasons:
                return self.reasons[what]
        return None

    def report(self):
        """Writes it; does everything hold?"""
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
        if self.late:
            say(f"{len(self.late)} steps are left: the same command goes on")
        return 0 if holds and not self.failed else 1


def knows_method(commands, name):
    """Nothing can be placed here, which is another status than that of a
    command line that makes no sense."""
    command = ["moirai-place", "-q", "--method", name, os.devnull]
    return commands.run(command, 60, (0, 1, USAGE))[0] != USAGE


def choose_methods(parser, options, commands):
    if not options.methods:
        learned = [name for name in LEARNED if knows_method(commands, name)]
        return list(METHODS) + learned
    methods = list(dict.fromkeys(options.methods.split(",")))
    for name in methods:
        if "place" in options.stages and not knows_method(commands, name):
            parser.error(f"moirai-place has no method '{name}'")
    return methods


def choose_clusters(parser, specs):
    clusters = {}
    for spec in specs or experiment_clusters.DEFAULTS:
        try:
            cluster = experiment_clusters.parse(spec)
        except (ValueError, SyntaxError):
            parser.error(f"--devices {spec}: it is gpu:64,32,16,8@inter,"
                         " cpu:2,1 or a cluster file; 4 devices at most")
        except OSError as error:
            parser.error(f"{spec}: {error.strerror}")
        clusters[cluster.name] = cluster
    return list(clusters.values())


def choose_instances(options, clusters):
    """In the order of what they show; --only names some."""
    patterns = options.only.split(",") if options.only else ["*"]
    instances = [
        Instance(model, cluster, graph)
        for graph in GRAPHS
        for cluster in clusters
        for model in options.models
    ]
    return [
        instance for instance in instances
        if any(fnmatch.fnmatchcase(str(instance), f"{pattern}*")
               for pattern in patterns)
    ]


def make_parser():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    add = parser.add_argument
    add("files", nargs="*", metavar="FILE", help="graphs, instead of the set")
    add("--devices", action="append", metavar="SPEC", help="may be repeated")
    add("--only", metavar="GLOB,GLOB",
        help="those whose MODEL/CLUSTER/GRAPH begins like this,\n"
        "as 'gpt*', '*/*-inter/coarsened'")
    add("--methods", metavar="M,M", help="all of the paper's unless given")
    add("--layers", type=int, default=0, help="of the zoo's networks")
    add("--zoo", default="", metavar="OPTIONS", help="more for moirai-zoo")
    add("--running", default="", metavar="OPTIONS",
        help="more for moirai-profile and moirai-exec")
    add("--time", type=float, default=20, help="seconds for each method")
    add("--jobs", type=int, default=2, help="placements found side by side")
    add("--profile-runs", type=int, default=25)
    add("--runs", type=int, default=50, help="timed, in each execution")
    add("--repeats", type=int, default=3, help="executions of a placement")
    add("--check", action="store_true", help="compare outputs, the first time")
    add("--budget", type=float, help="seconds for all of it")
    add("--stage", choices=STAGES + ("all",), default="all")
    add("--fresh", action="store_true", help="do again what is kept")
    add("--work", default="experiment", metavar="FOLDER")
    return parser


def read_options(parser, commands):
    options = parser.parse_args()
    for name in ("time", "jobs", "profile_runs", "runs", "repeats"):
        if getattr(options, name) < 1:
            parser.error(f"--{name.replace('_', '-')} is at least 1")
    options.stages = STAGES if options.stage == "all" else (options.stage,)
    if options.stage == "exec":
        options.stages += ("report",)
    options.running = shlex.split(options.running)
    options.methods = choose_methods(parser, options, commands)
    options.models = all_models(options.layers, shlex.split(options.zoo),
                                options.files)
    if len({model.name for model in options.models}) < len(options.models):
        parser.error("two graphs have one name")
    clusters = choose_clusters(parser, options.devices)
    options.instances = choose_instances(options, clusters)
    named = {instance.model.name for instance in options.instances}
    options.models = [m for m in options.models if m.name in named]
    # A processor is left to whoever drives a GPU meanwhile.
    cores = len(os.sched_getaffinity(0))
    options.threads = max(1, (cores - 1) // options.jobs)
    return options


def lacks_gpu(options, commands):
    """Are there GPUs to be measured, and none here?"""
    measures = {"profile", "exec"} & set(options.stages)
    emulated = any(i.cluster.running for i in options.instances)
    return (measures and emulated
            and "no GPU" in commands.version("moirai-exec"))


def interrupt(_number, _frame):
    raise KeyboardInterrupt


def run(commands):
    options = read_options(make_parser(), commands)
    if lacks_gpu(options, commands):
        print("SKIP  there is no GPU; --devices cpu:2,1 does without")
        return SKIPPED
    store = Store(options.work, options.fresh)
    with store.locked():
        return Experiment(options, store, commands).run()


def main():
    signal.signal(signal.SIGTERM, interrupt)
    try:
        return run(Commands())
    except KeyboardInterrupt:
        say("stopped: the same command goes on")
        return INTERRUPTED
    except Busy as folder:
        say(f"another experiment works in {folder}")
        return 1
    except Failed as reason:
        say(str(reason))
        return 1


if __name__ == "__main__":
    sys.exit(main())
