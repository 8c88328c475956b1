#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fault injection into the commands, one call after the other.

    campaign.py [OPTION]... PRELOAD EXAMPLES RESULTS

counts the calls of each command of cases.py by class, then runs the command
once for each call and lets that call fail (failpoint.h). A run is right when
it ends as if nothing had happened, or with exit status 1 and one line; when
each output is the old one or the new one; and when no temporary file, process,
block of memory or descriptor is left. RESULTS gets one line for each run; a
second start continues after the last.
"""
import argparse
import json
import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
import time

import cases
from bench import CLASSES, ORIGINS, Bench, symbolize

# Modes of each class; all of them fail once and from the n-th on.
KILLED = {"write", "open", "close", "name", "process", "exec", "net", "thread",
          "remove"}
SHORTENED = {"read", "write"}
INTERRUPTED = {"read", "write", "open", "close", "net", "wait"}

# planning

def jobs_of(case, state, options):
    """All runs of a case, in order; one for each stack with --each-stack."""
    seen = {}
    for word in state.log:
        seen.setdefault((word >> 56, word >> 48 & 0xff), []).append(
            word & (1 << 48) - 1)
    for c, name in enumerate(CLASSES):
        for o, origin in enumerate(ORIGINS):
            numbers = range(1, state.count(name, origin) + 1)
            most = case.most
            if origin == "other":
                if name != "alloc":
                    continue
                most = most or 20
            elif options.each_stack:
                hashes, first = seen.get((c, o), []), {}
                for n, value in enumerate(hashes, 1):
                    first.setdefault(value, n)
                numbers = sorted(first.values())
            for mode in modes_of(name):
                yield from ((case.name, name, origin, mode, n)
                            for n in thin(numbers, most, options))


def modes_of(name):
    yield "fail"
    yield "fail-from"
    if name in KILLED:
        yield "kill"
    if name in SHORTENED:
        yield "less"
        yield "less-from"
    if name in INTERRUPTED:
        yield "interrupt"


def thin(numbers, most, options):
    """Up to most numbers, evenly spread."""
    if options.most and (not most or options.most < most):
        most = options.most
    if not most or len(numbers) <= most:
        return numbers
    return [numbers[i * len(numbers) // most] for i in range(most)]


def sample(jobs, size):
    """About size runs of each case, and at least one of each class, origin and
    mode of them all: the kinds that few cases before have had come first."""
    kinds, used = {}, {}
    for job in jobs:
        kinds.setdefault(job[1:4], {}).setdefault(job[0], []).append(job)

    def take(kind, case):
        used[kind] = used.get(kind, 0) + 1
        return kinds[kind][case].pop(used[kind] % len(kinds[kind][case]))

    for case in dict.fromkeys(job[0] for job in jobs):
        own = sorted((kind for kind in kinds if case in kinds[kind]),
                     key=lambda kind: used.get(kind, 0))
        yield from [take(kind, case) for kind in own[:size]]
    for kind in (kind for kind in kinds if kind not in used):
        yield take(kind, next(iter(kinds[kind])))


def work(options, number, chosen, tasks, results):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    bench = Bench(options, number)
    bench.usual_leaks = options.usual_leaks
    for task in iter(tasks.get, None):
        case = chosen[task[0]]
        begin = time.monotonic()
        try:
            if bench.prepare(case) is None:
                raise OSError("the command fails without an injected fault")
            faults, how, state = bench.judge(case, task)
        except OSError as why:
            results.put((task, [f"no run: {why}"], "skipped", "", 0))
            continue
        if faults and any(f.startswith("leak") for f in faults):
            number_of_leak = state.leaked_number
            bench.state.write(task[3], task[1], task[2], task[4],
                              trace=number_of_leak)
            bench.set_up(case, task[4] % 2 == 1)
            bench.run(case, True)
            bench.orphans()
            again = bench.state.read()
            faults.append("leaked by " + symbolize(again.image, again.traced))
        stack = symbolize(state.image, state.stack) if faults else ""
        results.put((task, faults, how, stack, time.monotonic() - begin))
    results.put(None)


def plan(options, chosen):
    """Counts the calls of each case; returns the jobs and these numbers."""
    bench = Bench(options, 0)
    jobs, calls, options.usual_leaks = [], {}, {}
    for case in chosen.values():
        if bench.prepare(case) is None:
            print(f"{case.name}: cannot run here; left out")
            continue
        state = bench.count(case)
        options.usual_leaks[case.name] = state.leaked
        calls[case.name] = {name: sum(state.count(name, origin)
                                      for origin in ("own", "parser"))
                            for name in CLASSES}
        if state.leaked or state.left_open:
            print(f"{case.name}: {state.leaked} blocks and {state.left_open} "
                  "descriptors are held at the end without any failure")
        made = list(jobs_of(case, state, options))
        if not made:
            print(f"{case.name}: no call was counted")
        jobs += made
    shutil.rmtree(bench.root)
    return (list(sample(jobs, options.sample)) if options.sample else jobs,
            calls)


# results

def key_of(job):
    return " ".join(map(str, job))


def read_results(path):
    """The runs made so far, by key. A last line that is cut is ignored."""
    done = {}
    if os.path.exists(path):
        with open(path) as file:
            for line in file:
                try:
                    row = json.loads(line)
                    done[key_of(row["run"])] = row
                except ValueError:
                    pass
    return done


def add(cells, name, calls, injected, faults):
    old = cells.get(name, (0, 0, 0))
    cells[name] = (old[0] + calls, old[1] + injected, old[2] + faults)


def print_line(case, cells):
    calls, injected, faults = map(sum, zip(*cells.values()))
    print(f"{case:22} {calls:9} {injected:8} {faults:6}  " + " ".join(
        f"{n} {c[0]}/{c[1]}" + (f" ({c[2]} faults)" if c[2] else "")
        for n, c in cells.items() if c[0]))


def print_table(rows, calls):
    """Calls, runs with a failing one, and faults of each command and class;
    returns the number of faults."""
    table, whole = {}, {}
    for case, counts in calls.items():
        cells = table.setdefault(case, {})
        for name in CLASSES:
            add(cells, name, counts[name], 0, 0)
            add(whole, name, counts[name], 0, 0)
    for row in rows:
        case, name = row["run"][:2]
        numbers = 0, row["how"] != "not reached", bool(row["faults"])
        add(table[case], name, *numbers)
        add(whole, name, *numbers)
    print(f"{'command':22} {'calls':>9} {'injected':>8} {'faults':>6}  "
          "class calls/injected")
    for case, cells in table.items():
        print_line(case, cells)
    if whole:
        print_line("all", whole)
    return sum(c[2] for c in whole.values())


def print_row(row):
    print(f"FAULT {key_of(row['run'])}: {'; '.join(row['faults'])}\n"
          f"      at {row['stack']}", flush=True)


def campaign(options, chosen):
    os.mkdir(os.path.join(options.scratch, "inputs"))
    if not cases.make_inputs(os.path.join(options.scratch, "inputs"),
                             options.examples):
        return 1
    jobs, calls = plan(options, chosen)
    done = {} if options.again else read_results(options.results)
    keys = {key_of(job) for job in jobs}
    rows = [row for key, row in done.items() if key in keys]
    left = [job for job in jobs if key_of(job) not in done]
    print(f"{len(jobs)} runs, {len(left)} to make", flush=True)
    tasks, results = multiprocessing.Queue(), multiprocessing.Queue()
    workers = [multiprocessing.Process(
        target=work, args=(options, i + 1, chosen, tasks, results))
        for i in range(options.jobs)]
    for job in left:
        tasks.put(job)
    for worker in workers:
        tasks.put(None)
        worker.start()
    running = len(workers)
    with open(options.results, "w" if options.again else "a") as file:
        while running:
            result = results.get()
            if result is None:
                running -= 1
                continue
            job, faults, how, stack, _ = result
            row = {"run": job, "how": how, "faults": faults, "stack": stack}
            file.write(json.dumps(row) + "\n")
            file.flush()
            rows.append(row)
            if faults:
                print_row(row)
    order = {name: i for i, name in enumerate(chosen)}
    rows.sort(key=lambda row: (order[row["run"][0]],
                               CLASSES.index(row["run"][1])))
    return 1 if print_table(rows, calls) else 0


def replay(options, chosen):
    """Makes one run of the results again and prints what it does."""
    case, name, origin, mode, nth = options.replay.split()
    os.mkdir(os.path.join(options.scratch, "inputs"))
    cases.make_inputs(os.path.join(options.scratch, "inputs"),
                      options.examples)
    bench, case = Bench(options, 0), chosen[case]
    bench.prepare(case)
    bench.usual_leaks = {case.name: bench.count(case).leaked}
    faults, how, state = bench.judge(case, (case.name, name, origin, mode,
                                            int(nth)))
    print(f"{how}: {'; '.join(faults)}\nat "
          f"{symbolize(state.image, state.stack)}")
    for rank in range(case.ranks):
        for stream in "out", "err":
            text = bench.bytes_of(f"../{stream}{rank}")
            print(f"--- {stream}, rank {rank}\n"
                  f"{text.decode('utf-8', 'replace')}", end="")
    return 1 if faults else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("preload")
    parser.add_argument("examples")
    parser.add_argument("results")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", metavar="CASE,...", help="these commands")
    parser.add_argument("--each-stack", action="store_true",
                        help="one call for each place in the code")
    parser.add_argument("--most", type=int, default=0, metavar="N",
                        help="at most N calls of each class and mode")
    parser.add_argument("--sample", type=int, default=0, metavar="N",
                        help="N calls of each command that is not slow, and "
                        "each class and mode in one of them")
    parser.add_argument("--again", action="store_true",
                        help="forget earlier results")
    parser.add_argument("--replay", metavar="RUN",
                        help="one run, as in 'emit alloc own fail 12'")
    options = parser.parse_args()
    options.preload = os.path.abspath(options.preload)
    chosen = {case.name: case for case in cases.all_cases()
              if (case.name in options.only.split(",") if options.only
                  else not (options.sample and case.slow))}
    with tempfile.TemporaryDirectory(prefix="torture.") as scratch:
        options.scratch = os.path.realpath(scratch)
        return (replay if options.replay else campaign)(options, chosen)


if __name__ == "__main__":
    sys.exit(main())
