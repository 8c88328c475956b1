# SPDX-License-Identifier: Apache-2.0
"""Streams of requests that lose ranks at random moments.

    loss_case.py FOLDER SEED CASES LIMIT_S MODEL...

Each case starts two to five ranks of moirai-exec --on-loss replan on a network
that is placed on as many CPU devices, and kills, stops or cuts off one of them
or two.  All outputs must be those of an undisturbed run, and the next one must
come within LIMIT_S seconds.  Links are cut by a proxy between namespaces of
the network where these can be made.  Prints a line for each case, and the
distribution of recovery times; exits with 1 after a fault.
"""
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time

BUILD = os.environ.get("top_builddir", ".")
EXEC = os.path.join(BUILD, "moirai-exec")
PLACE = os.path.join(BUILD, "moirai-place")
ENV = {k: v for k, v in os.environ.items()
       if not k.startswith(("MOIRAI_", "OMPI_", "PMI"))}
ENV["MOIRAI_CUDA"] = ""
ENV["MOIRAI_TOKEN"] = "a token of the test, long enough"
DEADLINE_S = 90


def write_cluster(path, n):
    ids = [f"d{k}" for k in range(n)]
    with open(path, "w") as out:
        out.write('<cluster name="alike">\n')
        for k, name in enumerate(ids):
            out.write(f'  <device id="{name}" kind="cpu" gflops="{20 + k}" '
                      'memory_bandwidth_gbs="10" launch_us="2" '
                      'memory_gib="1" threads="1"/>\n')
        for a in range(n):
            for b in range(a):
                out.write(f'  <link between="{ids[a]} {ids[b]}" gbps="40" '
                          'latency_us="5"/>\n')
        out.write("</cluster>\n")


def outputs_of(folder):
    found = {}
    for name in os.listdir(folder):
        request = os.path.join(folder, name)
        for file in os.listdir(request):
            with open(os.path.join(request, file), "rb") as data:
                found[name, file] = data.read()
    return found


class Model:
    """A network, placed on n devices, and its outputs."""

    def __init__(self, folder, path, n):
        self.n = n
        self.folder = os.path.join(
            folder, f"{os.path.basename(os.path.dirname(path))}-{n}")
        shutil.copytree(os.path.dirname(path), self.folder)
        os.chmod(self.folder, 0o755)
        for name in os.listdir(self.folder):
            os.chmod(os.path.join(self.folder, name), 0o644)
        network = os.path.join(self.folder, os.path.basename(path))
        cluster = os.path.join(self.folder, "cluster.xml")
        write_cluster(cluster, n)
        # A random placement uses all devices.
        self.solution = os.path.join(self.folder, "all.sol")
        subprocess.run([PLACE, "-q", "--rounds", "1", "--threads", "1",
                        "--objective", "period", "-c", cluster, network,
                        "-o", self.solution], check=True, env=ENV,
                       stdout=subprocess.DEVNULL)
        begin = time.monotonic()
        out = os.path.join(self.folder, "undisturbed")
        self.requests = 40
        subprocess.run([EXEC, "-q", "--requests", "40", "--pin", "off", "-o",
                        out, self.solution], check=True, env=ENV,
                       stdout=subprocess.DEVNULL)
        self.request_s = (time.monotonic() - begin) / 40
        self.wanted = outputs_of(out)


class Link:
    """Namespaces of the network, one for each rank, joined by a bridge."""

    def __init__(self, n):
        self.pids = []
        self.n = n

    @staticmethod
    def works():
        try:
            return subprocess.run(
                ["unshare", "-n", "sh", "-c",
                 "ip link add a type veth peer name b && ip link set lo up"],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL).returncode == 0
        except OSError:
            return False


class Stream:
    """The ranks of one case."""

    def __init__(self, model, folder, requests, port, namespaces=None,
                 host="127.0.0.1", extra=()):
        self.out = os.path.join(folder, "out")
        self.report = os.path.join(folder, "report.json")
        shutil.rmtree(self.out, ignore_errors=True)
        if os.path.exists(self.report):
            os.unlink(self.report)
        self.ranks, self.errors = [], []
        for rank in range(model.n):
            name = os.path.join(folder, f"err{rank}")
            self.errors.append(name)
            command = [EXEC, "--quiet", "--on-loss", "replan", "--transport",
                       "tcp", "--rank", str(rank), "--ranks", str(model.n),
                       "--master", f"{host}:{port}", "--requests",
                       str(requests), "--pin", "off", "--json", "--report",
                       self.report, "-o", self.out, *extra, model.solution]
            if namespaces:
                command = namespaces.enter(rank, command)
            with open(name, "wb") as errors:
                self.ranks.append(subprocess.Popen(
                    command, env=ENV, stdout=subprocess.DEVNULL,
                    stderr=errors))

    def delivered(self):
        try:
            return len(os.listdir(self.out))
        except OSError:
            return 0

    def await_outputs(self, n):
        end = time.monotonic() + DEADLINE_S
        while self.delivered() < n and time.monotonic() < end:
            if self.ranks[0].poll() is not None:
                return
            time.sleep(0.002)

    def wait(self, rank):
        try:
            return self.ranks[rank].wait(DEADLINE_S)
        except subprocess.TimeoutExpired:
            return None

    def end(self):
        for rank in self.ranks:
            if rank.poll() is None:
                rank.kill()
                rank.wait()

    def text(self, rank):
        with open(self.errors[rank], errors="replace") as errors:
            return errors.read()


def check_outputs(stream, model, requests, faults):
    found = outputs_of(stream.out)
    names = {name for name, _ in found}
    if names != {f"{r:04d}" for r in range(requests)}:
        faults.append(f"{len(names)} of {requests} requests have outputs")
    for (name, file), data in found.items():
        same = f"{int(name) % model.requests:04d}"
        if int(name) < model.requests and model.wanted[same, file] != data:
            faults.append(f"{name}/{file} differs")
            break


def run_case(rng, case, models, folder, limit_s, namespaces):
    model = rng.choice(models)
    kinds = ["kill", "stop"] + (["cut"] if namespaces else [])
    kind = rng.choice(kinds)
    twice = model.n > 2 and rng.random() < 0.25
    requests = model.requests
    port = 20000 + (os.getpid() * 7 + case * 13) % 20000
    network = namespaces(model.n) if kind == "cut" else None
    stream = Stream(model, folder, requests, port, network,
                    network.host if network else "127.0.0.1")
    faults, times = [], []
    try:
        stream.await_outputs(rng.randrange(1, requests - 5))
        time.sleep(rng.random() * model.request_s)
        victims = rng.sample(range(1, model.n), 2 if twice else 1)
        for victim in victims:
            if kind == "kill":
                stream.ranks[victim].kill()
            elif kind == "stop":
                stream.ranks[victim].send_signal(signal.SIGSTOP)
            else:
                network.cut(victim)
            time.sleep(rng.random() * (1.5 if rng.random() < 0.5 else 0.05))
        code = stream.wait(0)
        if code != 0:
            faults.append(f"rank 0 exits with {code}: {stream.text(0)}")
        else:
            check_outputs(stream, model, requests, faults)
            with open(stream.report) as text:
                report = json.load(text)
            for loss in report.get("recoveries", []):
                ns = loss["silent_us"] + loss["output_us"]
                times.append((ns / 1e6, loss))
                if loss["output_us"] > 0 and ns > limit_s * 1e6:
                    faults.append(f"recovery took {ns / 1e6:.2f} s")
        for rank in range(1, model.n):
            if rank not in victims:
                code = stream.wait(rank)
                if code != 0:
                    faults.append(f"rank {rank} exits with {code}: "
                                  f"{stream.text(rank)}")
        for victim in victims:
            if kind == "stop":
                stream.ranks[victim].send_signal(signal.SIGCONT)
            if kind != "kill":
                code = stream.wait(victim)
                lines = stream.text(victim).count("\n")
                if code is None or lines > 1:
                    faults.append(f"lost rank {victim} exits with {code} and "
                                  f"{lines} lines: {stream.text(victim)}")
    finally:
        stream.end()
        if network:
            network.close()
    print(f"case {case}: {os.path.basename(model.folder)} {kind} "
          f"{' '.join(map(str, victims))}: "
          f"{', '.join(f'{t:.2f} s' for t, _ in times) or 'no loss'}"
          f"{'; ' if faults else ''}{'; '.join(faults)}", flush=True)
    return faults, times


def main():
    folder, seed, cases, limit_s = (sys.argv[1], int(sys.argv[2]),
                                    int(sys.argv[3]), float(sys.argv[4]))
    rng = random.Random(seed)
    models = [Model(folder, path, n) for path in sys.argv[5:]
              for n in range(2, 6)]
    failed, times = 0, []
    for case in range(cases):
        faults, found = run_case(rng, case, models, folder, limit_s, None)
        failed += bool(faults)
        times += [t for t, loss in found if loss["output_us"] > 0]
    times.sort()
    if times:
        print(f"{len(times)} recoveries: median {times[len(times) // 2]:.2f} "
              f"s, 95 % {times[len(times) * 95 // 100]:.2f} s, longest "
              f"{times[-1]:.2f} s")
    print(f"{cases} cases, {failed} with faults (seed {seed})")
    sys.exit(failed > 0)


main()
