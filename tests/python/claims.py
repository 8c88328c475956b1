# SPDX-License-Identifier: Apache-2.0
"""Claims about graphs, placements, solvers and reports of the Python module, each
a function without arguments.

    claims.py TOP_SRCDIR FOLDER [CLAIM...]
"""
import copy
import errno
import gc
import inspect
import os
import pickle
import re
import signal
import subprocess
import threading

import networkx as nx
import numpy as np

import moirai
from claims_support import (CLUSTER, EXAMPLES, INCEPTION, WORK, problem, raised,
                            refused, run_claims)


def random_dag(n, seed):
    """A layered graph with times on two devices, as a user would make it."""
    random = np.random.default_rng(seed)
    graph = nx.DiGraph(name=f"random{seed}")
    for i in range(n):
        graph.add_node(f"op{i}", op="Custom", memory=int(random.integers(99)),
                       shape=(1, int(random.integers(1, 9))), dtype="f32",
                       attrs={"k": i},
                       time_us={"A": float(random.integers(1, 99)),
                                "B": float(random.integers(1, 99))})
        for j in random.choice(i, min(i, 2), replace=False):
            graph.add_edge(f"op{j}", f"op{i}", bytes=4000,
                           comm_us={("A", "B"): 3.0, ("B", "A"): 4.0})
    return graph


PAIR = moirai.Cluster.from_arrays(["A", "B"], [[0, 10], [10, 0]],
                                  memory_bytes=[None, 10**6])


def a_graph_is_the_same_from_a_path_bytes_and_networkx():
    path = moirai.read(INCEPTION)
    data = moirai.read(INCEPTION.read_bytes(), name=str(INCEPTION))
    assert path.graphml() == data.graphml()
    assert moirai.read(path.to_networkx()).graphml() == path.graphml()
    assert len(path.ops) == 15 and len(path.edges) == 17
    assert path.ops[-1].name == path.ops[14].name
    assert path.find("b1_1x1") == [op.name for op in path.ops].index("b1_1x1")
    assert path.ops[path.find("b1_1x1")].attrs["strides"] == "1,1"
    assert isinstance(path.ops[path.find("b1_1x1")].output_bytes, int)


def shapes_are_tuples():
    texts = {"1,64,3": (1, 64, 3), "[2, 3]": (2, 3), "(4,)": (4,), "": (),
             "torch.Size([1, 5])": (1, 5), "2x8": (2, 8), "ellipse": None}
    made = nx.DiGraph()
    for i, text in enumerate(texts):
        made.add_node(f"op{i}", time_us={"A": 1, "B": 1}, shape=text)
    made.add_node("two", time_us={"A": 1, "B": 1}, shape="1,64;1,32")
    made.add_node("none", time_us={"A": 1, "B": 1})
    graph = moirai.read(made)
    for i, shape in enumerate(texts.values()):
        assert graph.ops[graph.find(f"op{i}")].shape == shape, shape
    two = graph.ops[graph.find("two")]
    assert two.shape == (1, 64) and two.shapes == ((1, 64), (1, 32))
    none = graph.ops[graph.find("none")]
    assert none.shape is None and none.shapes == ()


def a_networkx_graph_keeps_its_numbers():
    made = random_dag(12, 1)
    graph = moirai.read(made)
    at = moirai.Instance(graph, PAIR)
    for op in at.ops:
        times = at.time_ns[at.ops.index(op)]
        assert list(times) == [1000 * made.nodes[op]["time_us"][device]
                               for device in "AB"], op
    back = graph.to_networkx()
    assert back.name == "random1"
    assert nx.utils.edges_equal([(a, b) for a, b in made.edges],
                                [(a, b) for a, b in back.edges()])


def an_undirected_graph_is_refused():
    assert refused(moirai.read, nx.Graph()).status == moirai.Status.INPUT


def a_cycle_is_refused():
    assert refused(moirai.read, nx.DiGraph([(1, 2), (2, 1)])).status == \
        moirai.Status.INPUT


def errors_have_file_line_and_status():
    path = WORK / "wrong.graphml"
    path.write_text("<graphml>\n<graph>\n<node/>\n", encoding="utf-8")
    error = refused(moirai.read, path)
    assert error.file == str(path) and error.line >= 3
    assert str(error).startswith(f"{path}:{error.line}: ")
    assert "\n" not in str(error)
    missing = raised(FileNotFoundError, moirai.read, "/nothing")
    assert missing.status == moirai.Status.IO
    for one in missing, pickle.loads(pickle.dumps(missing)):
        assert isinstance(one, moirai.MoiraiError)
        assert one.errno == errno.ENOENT and one.filename == "/nothing"
        assert str(one) == "/nothing: cannot open: No such file or directory"
    own = problem(fusion="none").placement([0] * 15)
    for call, *arguments in ((own.write, "/no/x.sol"),
                             (moirai.cluster, "no.xml"), (moirai.open, "no.sol"),
                             (moirai.Profile, "no.xml"), (moirai.read, "no.pt2"),
                             (moirai.instance, INCEPTION, CLUSTER, "no.xml")):
        error = raised(FileNotFoundError, call, *arguments)
        assert error.status == moirai.Status.IO and "no" in str(error)
    raised(FileNotFoundError, problem, fusion="no.rules")
    assert not isinstance(refused(moirai.read, "/"), FileNotFoundError)
    assert refused(moirai.cluster, b"<x/>", name="c").file == "c"
    assert refused(problem, memory="much").status == moirai.Status.USAGE
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def a_wrong_argument_is_a_type_error():
    for call in moirai.read, moirai.cluster:
        try:
            call(7)
        except TypeError:
            continue
        raise AssertionError(call)


def coarsening_maps_ops():
    fine = moirai.read(INCEPTION)
    coarse = fine.coarsen(moirai.cluster(CLUSTER))
    assert len(coarse.ops) < len(fine.ops)
    at = coarse.coarse_op(fine.find("b1_1x1"))
    assert "b1_1x1" in [coarse.ops[at].name, *coarse.ops[at].members]
    assert refused(coarse.coarsen).status == moirai.Status.USAGE


def a_placement_agrees_with_the_command():
    placement = problem().place(time=10)
    assert placement.valid and placement.violations == []
    assert placement.makespan_us == 63.7 == placement.bound_us
    assert placement.gap == 0 and placement.method == "moirai"
    assert placement.period_us is None
    path = WORK / "inception.sol"
    placement.write(path)
    said = subprocess.run(
        ["moirai-check", "--graph", INCEPTION, "--cluster", CLUSTER, path],
        check=True, stdout=subprocess.PIPE, text=True).stdout
    assert "makespan    63.7 us" in said, said
    read = placement.instance.read(path)
    assert read.device_of == placement.device_of and read.makespan_us == 63.7
    assert problem(fusion="none").place(time=10).makespan_us == 95.1
    graph = moirai.read(INCEPTION)
    devices = moirai.cluster(CLUSTER)
    assert len(moirai.Instance(graph, devices).ops) == len(placement.ops)
    assert len(moirai.Instance(graph, devices, fusion="none").ops) == 15


def schedule_transfers_and_devices_agree():
    placement = problem().place(time=10)
    assert {one.op: one.device for one in placement.schedule} == \
        placement.device_of
    # 1.0 had a method.
    assert placement.schedule() == placement.schedule[:]
    ends = [one.end_us for one in placement.schedule]
    assert max(ends) == placement.makespan_us
    coarse = problem().place(time=10)
    for op in coarse.ops:
        assert coarse.device(op) == coarse.device_of[op]
    assert coarse.device("b1_relu") == coarse.device("b1_1x1")
    for transfer in placement.transfers:
        assert transfer.source != transfer.target
        assert transfer.start_us <= transfer.end_us <= placement.makespan_us


def own_placements_are_judged():
    at = problem()
    first = at.devices[0]
    mine = at.placement({op: first for op in at.ops})
    again = at.placement([0] * len(at.ops))
    assert mine.valid and mine.solution() == again.solution()
    total = sum(int(one) for one in at.time_ns[:, 0]) / 1000
    assert mine.makespan_us == total, (mine.makespan_us, total)
    assert mine.makespan_us >= at.place(time=10).makespan_us
    assert refused(at.placement, [0]).status == moirai.Status.USAGE


def numbers_out_of_range_are_refused():
    at = problem()
    n = len(at.ops)
    for wrong in ([2**40] * n, [-2**32] * n, ["nothing"] * n, [0] * (n + 1),
                  dict.fromkeys(at.ops[1:], 0),
                  {**dict.fromkeys(at.ops, 0), "nothing": 0}):
        assert refused(at.placement, wrong).status == moirai.Status.USAGE
    for wrong in ([2**70] * n, [0], [0] * (n + 1)):
        error = refused(at.placement, [0] * n, wrong)
        assert error.status == moirai.Status.USAGE and "start_ns" in str(error)
    raised(TypeError, at.placement, [0.5] * n)
    for wrong in ([1], [1, 2, 3], [2**64, 1]):
        assert refused(moirai.Cluster.from_arrays, ["A", "B"],
                       [[0, 1], [1, 0]], memory_bytes=wrong).status == \
            moirai.Status.USAGE
    fine = moirai.read(INCEPTION)
    raised(IndexError, fine.coarsen(moirai.cluster(CLUSTER)).coarse_op, 2**32)


def texts_with_a_null_byte_are_refused():
    placement = problem(fusion="none").placement([0] * 15)
    raised(ValueError, moirai.read, f"{INCEPTION}\0zzz")
    raised(ValueError, placement.write, f"{WORK}/null.sol\0b")
    assert not (WORK / "null.sol").exists()
    raised(ValueError, problem, memory="none\0b")
    raised(ValueError, moirai.read(INCEPTION).find, "b1_1x1\0b")
    raised(ValueError, moirai.Cluster.from_arrays, ["A\0"], [[0]])


def copies_are_the_object_itself():
    placement = problem(fusion="none").placement([0] * 15)
    devices = placement.device_of
    for twin in copy.copy(placement), copy.deepcopy({1: placement})[1]:
        assert twin is placement
    graph = moirai.read(INCEPTION)
    twin, first = copy.copy(graph), graph.ops[0]
    del placement, graph
    gc.collect()
    assert twin.ops[0] == first and len(devices) == 15
    for one in twin, problem(), moirai.cluster(CLUSTER):
        text = str(raised(TypeError, pickle.dumps, one))
        assert "cannot be pickled" in text and type(one).__name__ in text


def methods_and_solvers_are_listed():
    assert moirai.methods()[0] == "moirai" and "heft" in moirai.methods()
    assert "highs" in moirai.solvers()
    assert problem().place(method="heft", time=10).method == "heft"


def a_solver_finds_the_optimum():
    solved = moirai.solve(INCEPTION, CLUSTER, time=60)
    assert solved.valid and solved.makespan_us == 63.7


def options_have_the_names_of_the_command_line():
    placement = moirai.place(INCEPTION, CLUSTER, objective="period",
                             in_flight=2, time=5)
    assert placement.period_us <= placement.makespan_us
    assert "tiem" in str(raised(TypeError, problem().place, tiem=3))


def is_option(name):
    try:
        moirai._library.call("options_set", moirai._library.Options({}),
                             name.encode(), b"\x01")
    except moirai.MoiraiError as error:
        return "there is no option" not in str(error)
    return True


def options_are_keyword_arguments():
    special = {"self", "model", "cluster", "profile", "graph", "path",
               "example_inputs", "name", "message", "progress", "ids", "n"}
    seen = set()
    for call in (moirai.read, moirai.Graph.coarsen, moirai.instance,
                 moirai.place, moirai.solve, moirai.open, moirai.discover,
                 moirai.Instance, moirai.Instance.place, moirai.Instance.solve,
                 moirai.Instance.emit, moirai.Placement.emit,
                 moirai.Placement.report, moirai.Placement.executor,
                 moirai.Placement.generate):
        for name, one in inspect.signature(call).parameters.items():
            assert one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL), call
            if name not in special:
                assert one.kind == one.KEYWORD_ONLY, (call, name)
                option = name.rstrip("_").replace("_", "-")  # from_
                assert is_option(option), (call, name)
            seen.add(name.rstrip("_"))
    # Those that the comments of moirai.h list.
    header = (EXAMPLES.parent / "src" / "moirai.h").read_text(encoding="utf-8")
    listed = {word for text in re.findall(r"\* Options: (.*?)\*/", header, re.S)
              for word in re.findall(r"[a-z-]+", text) if is_option(word)}
    assert len(listed) > 30, listed
    assert not {one.replace("-", "_") for one in listed} - seen


def the_version_is_that_of_the_library():
    assert moirai.__version__ == moirai.version()
    raised(AttributeError, getattr, moirai, "__nothing__")


def a_period_of_own_devices_is_known():
    at = problem(objective="period")
    placement = at.place(time=5)
    same = at.placement(placement.device_of)
    assert same.valid and same.period_us == placement.period_us


def a_placement_is_replanned():
    at = problem()
    old = WORK / "replan.sol"
    before = at.place(time=5)
    before.write(old)
    same = at.place(from_=old, move_cost=1e-6)
    assert same.device_of == before.device_of
    rest = at.place(from_=old, drop_device=["A"])
    assert rest.valid and set(rest.device_of.values()) == {"B"}
    raised(moirai.MoiraiError, at.place, drop_device="nobody")
    raised(moirai.MoiraiError, at.place, move_cost=2)


def a_network_is_replicated():
    at = problem(objective="period")
    both = at.place(time=5, replicas="auto")
    assert len(both.copies) == 2 and 0 <= both.gap < 1
    rates = [1 / copy.period_us for copy in both.copies]
    assert abs(both.period_us - 1 / sum(rates)) < 2e-3
    used = [set(copy.device_of.values()) for copy in both.copies]
    assert not used[0] & used[1]
    path = WORK / "copies.sol"
    both.write(path)
    again = at.read(path)
    assert again.valid and again.period_us == both.period_us
    assert [c.device_of for c in again.copies] == \
        [c.device_of for c in both.copies]
    raised(moirai.MoiraiError, both.report)
    assert len(at.place(time=5, replicas=1).copies) == 1


def a_model_is_written_as_lp_and_mps():
    at = problem()
    assert b"\nEnd\n" in at.emit()
    assert b"ROWS" in at.emit(format="mps")
    path = WORK / "inception.mps"
    assert at.emit(path) == b""

    # A file has the paths of its inputs; its digest is another then.
    def own(text):
        return [line for line in text.splitlines()
                if not line.startswith((b"* file: ", b"* digest: "))]

    written = path.read_bytes()
    assert f"* file: {INCEPTION.resolve()}\n".encode() in written
    assert own(written) == own(at.emit(format="mps"))


def a_model_can_be_one_of_patterns():
    at = problem()
    assert b"\\ proof " not in at.emit()
    assert b"\\ proof " in at.emit(strengthen=5)
    model = at.emit(formulation="patterns")
    assert b"formulation: patterns\n" in model and b"\\ proof " in model
    solved = at.solve(formulation="patterns", time=60)
    assert solved.valid and solved.gap == 0 and solved.proof


def progress_is_reported_in_the_calling_thread():
    seen = []

    def progress(now):
        assert threading.current_thread() is threading.main_thread()
        seen.append(now)

    problem().place(time=10, progress=progress)
    assert seen and seen[-1].gap == 0
    assert seen[-1].makespan_us <= seen[0].makespan_us


HARD = random_dag(120, 7)


def progress_ends_a_search_with_what_there_is():
    placement = moirai.place(HARD, PAIR, time=0,
                             progress=lambda now: now.makespan_us is None)
    assert placement.valid


def an_exception_of_progress_ends_a_search():
    def progress(now):
        raise RuntimeError("enough")

    try:
        moirai.place(HARD, PAIR, time=0, progress=progress)
    except RuntimeError as error:
        assert str(error) == "enough"
    else:
        raise AssertionError("nothing was raised")


def an_interrupt_ends_a_search():
    def progress(now):
        if now.makespan_us is not None:
            os.kill(os.getpid(), signal.SIGINT)

    try:
        moirai.place(HARD, PAIR, time=0, progress=progress)
    except moirai.Interrupted as error:
        assert isinstance(error, KeyboardInterrupt)
        assert error.placement.valid
    else:
        raise AssertionError("nothing was raised")


def an_interrupt_ends_a_solver_and_no_later_one():
    hard = moirai.Instance(moirai.read(HARD), PAIR)
    for seconds in (0.2, 2):
        timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        try:
            hard.solve(time=0, solver="highs")
        except moirai.Interrupted:
            pass
        else:
            raise AssertionError("nothing was raised")
    solved = moirai.solve(INCEPTION, CLUSTER, time=60)
    assert solved.makespan_us == 63.7


def arrays_are_shared_and_keep_their_owner():
    times = problem(fusion="none").time_ns
    gc.collect()
    assert times.shape == (15, 2) and not times.flags.writeable
    assert times.sum() == problem(fusion="none").time_ns.sum()
    raised(ValueError, times.setflags, write=True)
    raised(ValueError, times.base.setflags, write=True)
    flows = problem().flows
    assert all(flows["source"] < flows["target"])


def reports_have_all_formats():
    placement = problem().place(time=10)
    assert f"{placement.makespan_us:.1f}" in placement.report()
    assert "<svg" in placement.report(format="svg")
    assert placement.report(format="json").lstrip()[0] in "[{"
    path = WORK / "inception.html"
    placement.report(path)
    assert "</html>" in path.read_text(encoding="utf-8")
    assert "<svg" in placement._repr_html_()
    large = moirai.Instance(moirai.read(random_dag(2001, 3)), PAIR,
                            fusion="none")
    shown = large.placement([0] * 2001)._repr_html_()
    assert "<td>2001</td>" in shown and "<svg" not in shown
    assert "Convolution" in moirai.read(INCEPTION)._repr_html_()
    assert "A" in moirai.cluster(CLUSTER)._repr_html_()


def a_solution_is_opened_with_its_inputs():
    placement = problem().place(time=10)
    path = WORK / "opened.sol"
    placement.write(path)
    opened = moirai.open(path, graph=INCEPTION, cluster=CLUSTER)
    assert opened.makespan_us == placement.makespan_us and opened.valid
    assert "Instance" in str(refused(opened.emit))


def this_machine_is_discovered():
    assert moirai.discover(gpus="none", cpus=2).devices


def nothing_leaks_or_is_freed_twice():
    for _ in range(200):
        at = moirai.Instance(moirai.read(INCEPTION), moirai.cluster(CLUSTER))
        at.placement([0] * len(at.ops))
    gc.collect()
    assert len(at.ops) == 8


if __name__ == "__main__":
    run_claims(globals())
