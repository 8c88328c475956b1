# SPDX-License-Identifier: Apache-2.0
"""The steps of an experiment: a graph, its profile, its placements, and their
execution.  Each returns its result, from its record if that is still
valid, and writes files atomically.

Models are placed as they are executed: a tensor is sent once to a device, and a
device sends one and receives one at a time.  They are measured and executed as
they are placed: what a device would do as one, though it was placed as several,
has no time for each that placing could go by.
"""
import json
import os
import time
import xml.etree.ElementTree as xml

from experiment_store import digest, digest_of_file, read_text, write_whole
from experiment_tools import Failed

GRAPHS = {"coarsened": "default", "original": "none"}  # by which fusion
RULES = ["--tensors", "once", "--congestion", "port"]
ONE_BY_ONE = ["--streams", "1"]  # as placements are made: an op at a time
SEED = "1"
PLACED, NO_PLACEMENT = 0, 3
RAN, DIFFERS = 0, 4
GRAPH_LIMIT_SECONDS = 600
PROFILE_LIMIT_SECONDS, EXEC_LIMIT_SECONDS = 1200, 600


class NotYet(Exception):
    """An input of the step is missing; the text names it."""


class DoesNotFit(Exception):
    """There is no placement to execute."""


class Instance:
    def __init__(self, model, cluster, graph):
        self.model, self.cluster, self.graph = model, cluster, graph
        self.fusion = ["--fusion", GRAPHS[graph]]

    def __str__(self):
        return f"{self.model.name}/{self.cluster.name}/{self.graph}"


class Steps:
    def __init__(self, options, store, commands, budget):
        self.options, self.store = options, store
        self.commands, self.budget = commands, budget

    def how(self, command, *options):
        return digest(self.commands.version(command), *options)

    def run(self, command, seconds, accepted=(0,)):
        """Returns the output, with the seconds it took, and the status."""
        begin = time.monotonic()
        status, out = self.commands.run(command, self.budget.limit(seconds),
                                        accepted)
        return status, out, round(time.monotonic() - begin, 3)

    def graph_path(self, model):
        return model.path or self.store.path(
            f"{model.name}/{model.name}.graphml"
        )

    def make_graph(self, model):
        """Returns the seconds it took, or None; the weights, if any, lie
        beside it."""
        if model.path:
            return None
        path, name = self.graph_path(model), f"{model.name}/graph"
        inputs, how = model.recipe(), self.how(model.command[0])
        if self.store.kept(name, inputs, how) and os.path.exists(path):
            return None
        seconds = self.run(model.command + [path], GRAPH_LIMIT_SECONDS)[2]
        self.store.keep(name, inputs, how, {"seconds": seconds})
        return seconds

    def has_graph(self, model):
        """Returns whether the graph exists, made here or elsewhere."""
        return os.path.exists(self.graph_path(model))

    def cluster_path(self, cluster):
        path = self.store.path(f"clusters/{cluster.name}.xml")
        if read_text(path) != cluster.text:
            write_whole(path, cluster.text)
        return path

    def name(self, instance, *more):
        model, cluster = instance.model.name, instance.cluster.name
        return f"{model}/{'.'.join((cluster, instance.graph) + more)}"

    def files(self, instance):
        """Of the graph and the cluster; the sizes of weights are in the first,
        and times depend on no more of them."""
        graph = self.graph_path(instance.model)
        if not os.path.exists(graph):
            raise NotYet("has no graph yet")
        return graph, self.cluster_path(instance.cluster)

    def common(self, instance):
        return ["-c", self.cluster_path(instance.cluster)] + instance.fusion

    def running(self, instance):
        return (["--as-placed"] + instance.cluster.running
                + self.options.running)

    def profile_path(self, instance):
        return self.store.path(self.name(instance, "profile.xml"))

    def profile_inputs(self, instance):
        return digest(*map(digest_of_file, self.files(instance)))

    def profile_how(self, instance):
        return self.how("moirai-profile", self.running(instance),
                        self.options.profile_runs)

    def profile(self, instance):
        """Resumes an interrupted measurement."""
        name, path = self.name(instance, "profile"), self.profile_path(instance)
        inputs = self.profile_inputs(instance)
        how = self.profile_how(instance)
        if self.store.kept(name, inputs, how) and os.path.exists(path):
            return None
        part = self.store.path(
            self.name(instance, "profile", digest(inputs, how)[:12], "part.xml")
        )
        self.begin_profile(instance, part)
        seconds = self.run(
            ["moirai-profile", "run", "-q", "--random-weights", SEED, "--runs",
             str(self.options.profile_runs), "-o", part]
            + self.common(instance) + self.running(instance)
            + [self.graph_path(instance.model)],
            PROFILE_LIMIT_SECONDS,
        )[2]
        os.replace(part, path)
        told = {"seconds": seconds, "ops": self.ops_of(instance, how)}
        self.store.keep(name, inputs, how, told)
        return seconds

    def ops_of(self, instance, how):
        """What times of ops depend on: parts of a GPU, and not their links."""
        return digest(digest_of_file(self.graph_path(instance.model)),
                      instance.graph, instance.cluster.running, how)

    def begin_profile(self, instance, part):
        """Starts from the ops of a cluster with the same parts, if there is
        one; its links differ."""
        if self.store.fresh and os.path.exists(part):
            os.remove(part)
        if os.path.exists(part) or not instance.cluster.running:
            return
        ops = self.ops_of(instance, self.profile_how(instance))
        for other in self.options.instances:
            told = self.store.usable(self.name(other, "profile")).get("told")
            path = self.profile_path(other)
            if told and told["ops"] == ops and os.path.exists(path):
                root = xml.parse(path).getroot()
                for link in root.findall("link"):
                    root.remove(link)
                write_whole(part, xml.tostring(root, encoding="unicode"))
                return

    def solution_path(self, instance, method):
        return self.store.path(self.name(instance, method, "sol"))

    def place_inputs(self, instance, method):
        path = self.profile_path(instance)
        if not os.path.exists(path):
            raise NotYet("has no profile yet")
        return digest(self.profile_inputs(instance), digest_of_file(path),
                      method)

    def place(self, instance, method):
        """Returns None if the placement is kept, else the seconds it took."""
        name = self.name(instance, method, "place")
        path = self.solution_path(instance, method)
        inputs = self.place_inputs(instance, method)
        how = self.how("moirai-place", RULES, SEED, self.options.time)
        told = self.store.kept(name, inputs, how)
        if told and (not told.get("fits") or os.path.exists(path)):
            return None
        told, seconds = self.find_placement(instance, method, path)
        self.store.keep(name, inputs, how, told)
        return seconds

    def find_placement(self, instance, method, path):
        """A method may be stopped by its time limit and needs some time to
        write its result."""
        part = self.store.temporary(self.name(instance, method, "sol"))
        status, out, seconds = self.run(
            ["moirai-place", "-q", "--json", "--method", method, "--seed", SEED,
             "--time", str(self.options.time), "--threads",
             str(self.options.threads), "-o", part] + RULES
            + self.common(instance) + ["-p", self.profile_path(instance)]
            + [self.graph_path(instance.model)],
            2 * self.options.time + 120,
            (PLACED, NO_PLACEMENT),
        )
        if status == PLACED:
            os.replace(part, path)
        return json.loads(out)[0], seconds

    def placement(self, instance, method):
        """Returns its record, or None."""
        try:
            inputs = self.place_inputs(instance, method)
        except NotYet:
            return None
        return self.store.told(self.name(instance, method, "place"), inputs)

    def exec_inputs(self, instance, method):
        told = self.placement(instance, method)
        path = self.solution_path(instance, method)
        if not told:
            raise NotYet("has no placement yet")
        if not told.get("fits") or not os.path.exists(path):
            raise DoesNotFit
        return digest(self.place_inputs(instance, method),
                      digest_of_file(path))

    def exec_how(self, instance):
        return self.how("moirai-exec", ONE_BY_ONE, self.running(instance),
                        self.options.runs)

    def kept_executions(self, instance, method):
        """Those that the next one is added to."""
        inputs = self.exec_inputs(instance, method)
        return self.store.kept(self.name(instance, method, "exec"), inputs,
                               self.exec_how(instance)) or []

    def execute(self, instance, method):
        """Runs once more.  The first one replaces all before it, even if it
        fails."""
        kept = self.kept_executions(instance, method)
        inputs = self.exec_inputs(instance, method)
        name = self.name(instance, method, "exec")
        if not kept:
            self.store.forget(name)
        check = ["--check"] if self.options.check and not kept else []
        status, out, seconds = self.run(
            ["moirai-exec", "-q", "--json", "--runs", str(self.options.runs),
             "--random-weights", SEED, "-g", self.graph_path(instance.model),
             "-p", self.profile_path(instance)] + check + self.common(instance)
            + self.running(instance) + ONE_BY_ONE
            + [self.solution_path(instance, method)],
            EXEC_LIMIT_SECONDS,
            (RAN, DIFFERS),
        )
        told = json.loads(out)
        if status == DIFFERS:
            raise Failed(f"outputs differ by {told.get('max_error')}")
        self.store.keep(name, inputs, self.exec_how(instance),
                        kept + [dict(told, seconds=seconds)])
        return seconds

    def executions(self, instance, method):
        """All of the current placement, wherever made."""
        try:
            inputs = self.exec_inputs(instance, method)
        except (NotYet, DoesNotFit):
            return []
        return self.store.told(self.name(instance, method, "exec"),
                               inputs) or []
