# SPDX-License-Identifier: Apache-2.0
"""Streams of requests that lose ranks at random moments.

    loss_case.py FOLDER SEED CASES LIMIT_S MODEL...

Each case starts two to five ranks (with less than ten cases three) of moirai-exec --on-loss replan on a network
that is placed on as many CPU devices, and kills, stops or cuts off one of them
or two.  All outputs must be those of an undisturbed run, and the next one must
come within LIMIT_S seconds.  Links are cut between
namespaces of the network where these can be made.  Prints a line for each case, and the
distribution of recovery times; exits with 1 after a fault.
"""
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

BUILD = os.environ.get("top_builddir", ".")
EXEC = os.path.join(BUILD, "moirai-exec")
PLACE = os.path.join(BUILD, "moirai-place")
ENV = {k: v for k, v in os.environ.items()
       if not k.startswith(("MOIRAI_", "OMPI_", "PMI"))}
ENV["MOIRAI_CUDA"] = ""
if "LOSS_TOKEN" not in ENV: ENV["MOIRAI_TOKEN"] = "a token of the test, long enough"
DEADLINE_S = 90
SECONDS = 2  # of an undisturbed stream, about


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
        self.run(40)
        with open(self.report) as text:
            self.request_s = json.load(text)["period_us"] * 1e-6
        self.requests = min(1000, max(200, int(SECONDS / self.request_s)))
        self.wanted = self.run(self.requests)
        self.stdin = self.arrays(os.path.dirname(path))
        self.stdout = subprocess.run(
            [EXEC, "-q", "--inputs", "-", "--pin", "off", "-o", "-",
             self.solution], check=True, env=ENV, input=self.stdin,
            stdout=subprocess.PIPE).stdout

    def arrays(self, folder):
        """Of as many requests, each with the elements in another order."""
        rng = random.Random(1)
        inputs = []
        for i in range(10):
            name = os.path.join(folder, f"input{i}.npy")
            if not os.path.exists(name):
                break
            with open(name, "rb") as file:
                data = file.read()
            length = 10 + int.from_bytes(data[8:10], "little")
            size = int(re.search(rb"[fi]([0-9])'", data[:length]).group(1))
            inputs.append((data[:length],
                           [data[at:at + size]
                            for at in range(length, len(data), size)]))
        stream = []
        for _ in range(self.requests):
            for header, elements in inputs:
                rng.shuffle(elements)
                stream += [header, *elements]
        return b"".join(stream)

    def run(self, requests):
        out = os.path.join(self.folder, "undisturbed")
        self.report = os.path.join(self.folder, "report.json")
        subprocess.run([EXEC, "-q", "--requests", str(requests), "--pin",
                        "off", "--json", "--report", self.report, "-o", out,
                        self.solution], check=True, env=ENV)
        return outputs_of(out)


class Network:
    """Hosts in namespaces of the network, joined by a switch."""

    count = 0

    def __init__(self, n):
        Network.count += 1
        self.names = [f"loss{os.getpid()}-{Network.count}-{k}"
                      for k in range(n + 1)]
        self.hub = self.names[-1]
        self.host = "10.78.0.1"
        for name in self.names:
            self.ip("netns", "add", name)
            self.ip("-n", name, "link", "set", "lo", "up")
        self.ip("-n", self.hub, "link", "add", "switch", "type", "bridge")
        self.ip("-n", self.hub, "link", "set", "switch", "up")
        for k in range(n):
            self.ip("-n", self.names[k], "link", "add", "cable", "type",
                    "veth", "peer", "name", f"port{k}", "netns", self.hub)
            self.ip("-n", self.hub, "link", "set", f"port{k}", "master",
                    "switch", "up")
            self.ip("-n", self.names[k], "addr", "add", f"10.78.0.{k + 1}/24",
                    "dev", "cable")
            self.ip("-n", self.names[k], "link", "set", "cable", "up")

    @staticmethod
    def ip(*words):
        subprocess.run(["ip", *words], check=True, stderr=subprocess.PIPE)

    @staticmethod
    def works():
        try:
            Network(1).close()
            return True
        except (OSError, subprocess.CalledProcessError):
            return False

    def enter(self, rank, command):
        return ["ip", "netns", "exec", self.names[rank], *command]

    def cut(self, rank):
        self.ip("-n", self.hub, "link", "set", f"port{rank}", "down")

    def close(self):
        for name in self.names:
            subprocess.run(["ip", "netns", "del", name], check=False,
                           stderr=subprocess.DEVNULL)


class Stream:
    """The ranks of one case; piped: requests and outputs of pipes."""

    def __init__(self, model, folder, port, network, piped):
        self.model = model
        self.piped = piped
        self.out = os.path.join(folder, "out")
        self.report = os.path.join(folder, "report.json")
        self.data = bytearray()
        shutil.rmtree(self.out, ignore_errors=True)
        if os.path.exists(self.report):
            os.unlink(self.report)
        self.ranks, self.errors, self.threads = [], [], []
        for rank in range(model.n):
            name = os.path.join(folder, f"err{rank}")
            self.errors.append(name)
            command = [EXEC, "--quiet", "--on-loss", "replan", "--transport",
                       "tcp", "--rank", str(rank), "--ranks", str(model.n),
                       "--master",
                       f"{network.host if network else '127.0.0.1'}:{port}",
                       "--pin", "off", "--json", "--report", self.report]
            # Shared memory needs no cable.
            if network or port % 2:
                command.append("--no-shm")
            command += (["--inputs", "-", "-o", "-"] if piped else
                        ["--requests", str(model.requests), "-o", self.out])
            command.append(model.solution)
            if network:
                command = network.enter(rank, command)
            pipe = subprocess.PIPE if piped and rank == 0 else (
                subprocess.DEVNULL)
            with open(name, "wb") as errors:
                self.ranks.append(subprocess.Popen(
                    command, env=ENV, stdin=pipe, stdout=pipe,
                    stderr=errors))
        if piped:
            self.threads = [threading.Thread(target=work)
                            for work in (self.feed, self.drain)]
            for thread in self.threads:
                thread.start()

    def feed(self):
        try:
            with self.ranks[0].stdin as pipe:
                # In pieces that end within arrays, with pauses.
                data, part = self.model.stdin, len(self.model.stdin) // 40 + 1
                for at in range(0, len(data), part):
                    pipe.write(data[at:at + part])
                    pipe.flush()
                    time.sleep(0.03)
        except OSError:
            pass

    def drain(self):
        while True:
            part = os.read(self.ranks[0].stdout.fileno(), 1 << 16)
            if not part:
                return
            self.data += part

    def delivered(self):
        if self.piped:
            return (len(self.data) * self.model.requests //
                    len(self.model.stdout))
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
        for thread in self.threads:
            thread.join()

    def text(self, rank):
        with open(self.errors[rank], errors="replace") as errors:
            return errors.read()

    def check_outputs(self, faults):
        model = self.model
        if self.piped:
            for thread in self.threads:
                thread.join()
            if bytes(self.data) != model.stdout:
                faults.append(f"{len(self.data)} bytes of outputs differ from "
                              f"{len(model.stdout)}")
            return
        found = outputs_of(self.out)
        if set(found) != set(model.wanted):
            faults.append(f"{len(found)} of {len(model.wanted)} outputs")
        for name in sorted(set(found) & set(model.wanted)):
            if model.wanted[name] != found[name]:
                faults.append(f"{'/'.join(name)} differs")
                break


def start(model, folder, port, network, piped):
    """On a busy machine ranks may miss the deadline of the first join."""
    for attempt in range(5):
        stream = Stream(model, folder, port + attempt, network, piped)
        stream.await_outputs(1)
        if (stream.ranks[0].poll() in (None, 0) or
                "has never come" not in stream.text(0)):
            break
        stream.end()
    return stream


def run_case(rng, case, models, folder, limit_s, has_network):
    model = rng.choice(models)
    kind = rng.choice(["kill", "stop", "cut"] if has_network else
                      ["kill", "stop"])
    twice = model.n > 2 and rng.random() < 0.25
    requests = model.requests
    port = 20000 + (os.getpid() * 7 + case * 13) % 20000
    network = Network(model.n) if kind == "cut" else None
    stream = start(model, folder, port, network, rng.random() < 0.5)
    faults, times = [], []
    try:
        stream.await_outputs(rng.randrange(1, requests * 9 // 10))
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
            stream.check_outputs(faults)
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
          f"{' '.join(map(str, victims))}{' piped' if stream.piped else ''}: "
          f"{', '.join(f'{t:.2f} s' for t, _ in times) or 'no loss'}"
          f"{'; ' if faults else ''}{'; '.join(faults)}", flush=True)
    return faults, times


def main():
    folder, seed, cases, limit_s = (sys.argv[1], int(sys.argv[2]),
                                    int(sys.argv[3]), float(sys.argv[4]))
    rng = random.Random(seed)
    models = [Model(folder, path, n) for path in sys.argv[5:]
              for n in (range(2, 6) if cases > 9 else [3])]
    has_network = Network.works()
    failed, times = 0, []
    for case in range(cases):
        faults, found = run_case(rng, case, models, folder, limit_s,
                                 has_network)
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
