# SPDX-License-Identifier: Apache-2.0
"""Command line of the experiment."""
import argparse
import fnmatch
import os
import shlex

import experiment_clusters
from experiment_models import all_models
from experiment_steps import GRAPHS, Instance

# In the order of what they show.
METHODS = ("moirai", "m-sct", "getf", "single", "m-etf", "heft", "m-topo",
           "peft", "pesto", "hare")
LEARNED = ("placeto", "hrl")  # where moirai-place has them
STAGES = ("graphs", "profile", "place", "exec", "report")
USAGE = 2


def knows_method(commands, name):
    """Returns whether moirai-place has the method: an empty file cannot be
    placed, but its exit status differs from that of an unknown option."""
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
    """By priority; --only names some."""
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


def make_parser(description):
    parser = argparse.ArgumentParser(
        description=description,
        formatter_class=argparse.RawTextHelpFormatter,
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
    add("--time", type=float, default=60, help="seconds for each method")
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


def split_words(parser, options, name):
    """Splits as a shell does."""
    try:
        return shlex.split(getattr(options, name))
    except ValueError as error:
        return parser.error(f"--{name}: {error}")


def read_options(description, commands):
    """Parses the command line into stages, methods, models and instances by
    priority."""
    parser = make_parser(description)
    options = parser.parse_args()
    for name in ("time", "jobs", "profile_runs", "runs", "repeats"):
        if getattr(options, name) < 1:
            parser.error(f"--{name.replace('_', '-')} is at least 1")
    options.stages = STAGES if options.stage == "all" else (options.stage,)
    if options.stage == "exec":
        options.stages += ("report",)
    options.running = split_words(parser, options, "running")
    options.methods = choose_methods(parser, options, commands)
    for path in options.files:
        if not os.access(path, os.R_OK):
            parser.error(f"{path} cannot be read")
    options.models = all_models(options.layers,
                                split_words(parser, options, "zoo"),
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
