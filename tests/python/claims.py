# SPDX-License-Identifier: Apache-2.0
"""Claims about the Python module, each a function; prints "ok CLAIM" or
"failed CLAIM" for each of them, and why on stderr.

    claims.py TOP_SRCDIR FOLDER
"""
import gc
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import threading
import traceback

import networkx as nx
import numpy as np

import moirai

EXAMPLES = pathlib.Path(sys.argv[1], "examples")
WORK = pathlib.Path(sys.argv[2])
INCEPTION = EXAMPLES / "inception.graphml"
CLUSTER = EXAMPLES / "inception.cluster.xml"


def problem(**options):
    return moirai.instance(INCEPTION, CLUSTER, **options)


def refused(call, *arguments, **options):
    try:
        call(*arguments, **options)
    except moirai.MoiraiError as error:
        return error
    raise AssertionError("nothing was raised")


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
    assert refused(moirai.read, "/nothing").status == moirai.Status.IO
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
    placement = problem(fusion="default").place(time=10)
    assert placement.valid and placement.check() == []
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


def tables_transfers_and_devices_agree():
    placement = problem().place(time=10)
    assert {row.op: row.device for row in placement.table()} == \
        placement.device_of
    ends = [row.end_us for row in placement.table()]
    assert max(ends) == placement.makespan_us
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


def methods_and_solvers_are_listed():
    assert moirai.methods()[0] == "moirai" and "heft" in moirai.methods()
    assert "highs" in moirai.solvers()
    assert problem().place(method="heft", time=10).method == "heft"


def options_have_the_names_of_the_command_line():
    placement = moirai.place(INCEPTION, CLUSTER, objective="period",
                             in_flight=2, time=5)
    assert placement.period_us <= placement.makespan_us
    assert "option" in str(refused(problem().place, tiem=3))


def a_model_is_written_as_lp_and_mps():
    at = problem()
    assert b"\nEnd\n" in at.emit()
    assert b"ROWS" in at.emit(format="mps")
    path = WORK / "inception.mps"
    assert at.emit(path) == b"" and path.read_bytes() == at.emit(format="mps")


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


def arrays_are_shared_and_keep_their_owner():
    times = problem().time_ns
    gc.collect()
    assert times.shape == (15, 2) and not times.flags.writeable
    assert times.sum() == problem().time_ns.sum()
    flows = problem().flows
    assert all(flows["source"] < flows["target"])


def nothing_leaks_or_is_freed_twice():
    for _ in range(200):
        at = moirai.Instance(moirai.read(INCEPTION), moirai.cluster(CLUSTER))
        at.placement([0] * len(at.ops))
    gc.collect()
    assert len(at.ops) == 15


def main():
    claims = [value for name, value in globals().items()
              if callable(value) and getattr(value, "__module__", "") ==
              "__main__" and "_" in name and value.__code__.co_argcount == 0
              and value is not main]
    only = sys.argv[3:]
    failed = 0
    for claim in claims:
        if only and claim.__name__ not in only:
            continue
        name = claim.__name__.replace("_", " ")
        try:
            claim()
            print("ok", name, flush=True)
        except Exception:
            failed += 1
            print("failed", name, flush=True)
            sys.stderr.write(f"{name}:\n{traceback.format_exc()}")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
