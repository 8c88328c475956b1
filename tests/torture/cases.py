# SPDX-License-Identifier: Apache-2.0
"""The commands that campaign.py lets fail: arguments, inputs and outputs.

A case runs in a folder with the inputs that make_inputs() leaves there.
"""
import os
import shutil
import subprocess
from dataclasses import dataclass, field


@dataclass
class Case:
    name: str
    argv: list
    outputs: list = field(default_factory=list)  # files that are replaced
    read: tuple = ()         # outputs that are also read: never an old one
    measured: bool = False   # results hold times: compared without numbers
    timed: bool = False      # the printed report holds times
    solves: bool = False     # by a solver: a valid solution of another status,
                             # or none (3), when the report has the reason
    surveys: bool = False    # reports an input that it cannot read as missing
    once: bool = False       # an output that exists is not replaced
    ranks: int = 1           # processes of the job, by TCP
    hit: int = 0             # the rank that fails
    launcher: list = field(default_factory=list)
    most: int = 0            # of a class and mode, 0: all calls
    slow: bool = False       # not in samples
    env: dict = field(default_factory=dict)      # None: not set


# A solver that knows the answer.
SCRIPT = "sh solver.sh {model} {solution}"
# One whose claim is refuted.
LIAR = "echo =infeas= >{solution} # {model}"
PLACE = ["moirai-place", "-q", "--threads", "1", "--time", "0",
         "--rounds", "2"]
SOLVE = ["moirai-solve", "-q", "--threads", "1", "--time", "60",
         "-o", "s.sol"]
EXEC = ["moirai-exec", "-q", "-i", "input0.npy", "--reference", "reference",
        "--threads", "1", "--pin", "off"]
TLS = ["--tls-cert", "cert.pem", "--tls-key", "key.pem", "--tls-ca",
       "cert.pem"]
MPIRUN = ["mpirun", "-n", "2"]
MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
       "OMPI_MCA_rmaps_base_oversubscribe": "1",
       "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
       "MOIRAI_TRANSPORT": "mpi"}


def solver_cases():
    """One case for each way to each solver that is installed."""
    listed = subprocess.run(["moirai-solve", "--list"], capture_output=True,
                            text=True).stdout
    for line in listed.splitlines():
        words = line.split()
        if line.startswith(" ") or "not found" in line:
            continue
        for way in "process", "library":
            if way in line:
                yield Case(f"solve-{words[0]}-{way}",
                           SOLVE + ["--solver", words[0], "--via", way,
                                    "inception.lp"], ["s.sol"],
                           timed=True, solves=True,
                           most=0 if words[0] == "highs" else 40,
                           slow=words[0] != "highs")


def all_cases():
    yield Case("info", ["moirai-info", "inception.graphml"])
    yield Case("info-ir", ["moirai-info", "--json", "model.xml"])
    yield Case("info-solution", ["moirai-info", "inception.sol"],
               surveys=True)
    yield Case("info-dot", ["moirai-info", "--dot", "-o", "g.dot",
                            "inception.graphml"], ["g.dot"])
    yield Case("info-instance", ["moirai-info", "-q", "--instance", "-o", "i.txt",
                                 "inception.graphml"], ["i.txt"])
    yield Case("info-formats", ["moirai-info", "-q", "--instance", "--json",
                                "-c", "own.xml", "--precision", "f16",
                                "--weights", "int4", "model.xml"],
               env={"MOIRAI_DEVICES": "models.xml"})
    yield Case("info-bundle", ["moirai-info", "job.tar"], surveys=True)
    yield Case("check", ["moirai-check", "inception.sol"])
    yield Case("check-json", ["moirai-check", "--json", "inception.sol"])
    yield Case("check-files", ["moirai-check", "--schedule", "schedule.json",
                               "-o", "c.txt", "inception.sol"],
               ["schedule.json", "c.txt"])
    yield Case("check-bundle", ["moirai-check", "job.tar"])
    yield Case("emit", ["moirai-emit", "-q", "--fusion", "default",
                        "-o", "o.lp", "inception.graphml"], ["o.lp"])
    yield Case("emit-mps-gz", ["moirai-emit", "-q", "--no-strengthen",
                               "-o", "o.mps.gz", "inception.graphml"],
               ["o.mps.gz"])
    yield Case("emit-stdin-zst", ["sh", "-c", "exec moirai-emit -q -c "
               "inception.cluster.xml --no-strengthen -o o.lp.zst "
               "- <inception.graphml"], ["o.lp.zst"])
    yield Case("coarsen", ["moirai-coarsen", "-q", "--fusion", "default",
                           "-o", "o.graphml", "inception.graphml"],
               ["o.graphml"])
    yield Case("coarsen-ir", ["moirai-coarsen", "-q", "-o", "o.graphml",
                              "model.xml"], ["o.graphml"])
    yield Case("zoo", ["moirai-zoo", "--layers", "1", "--hidden", "64",
                       "--heads", "2", "-o", "z.graphml"], ["z.graphml"])
    yield Case("place", PLACE + ["--assist", "none", "-o", "p.sol",
                                 "inception.graphml"], ["p.sol"], timed=True)
    yield Case("place-baselines", PLACE + [
        "--assist", "none", "--method", "m-topo,m-etf,m-sct,getf,heft",
        "--json", "-o", "p.sol", "inception.graphml"], ["p.sol"],
        measured=True)
    yield Case("place-policy", PLACE + [
        "--assist", "none", "--method", "placeto", "--policy", "policy",
        "--curve", "curve.csv", "-o", "p.sol", "inception.graphml"],
        ["p.sol", "policy", "curve.csv"], read=("policy",),
        timed=True)
    yield Case("place-assisted", PLACE + ["--assist", "highs", "-o", "p.sol",
                                          "inception.graphml"], ["p.sol"],
               timed=True, most=200, slow=True)
    yield from solver_cases()
    yield Case("solve-command", SOLVE + [
        "--command", SCRIPT, "inception.lp"], ["s.sol"], timed=True,
        solves=True)
    yield Case("solve-start", SOLVE + [
        "--command", SCRIPT, "--start", "inception.sol",
        "inception.lp"], ["s.sol"], timed=True,
        solves=True)
    yield Case("solve-refuted", SOLVE + [
        "--command", LIAR, "--cross-check", "0", "inception.lp"], ["s.sol"],
        timed=True, solves=True)
    yield Case("moirai", ["moirai", "-q", "--command",
                          SCRIPT, "--no-strengthen",
                          "-o", "m.sol", "--keep", "kept",
                          "inception.graphml"],
               ["m.sol", "kept/inception.lp", "kept/inception.sol",
                "kept/inception.schedule.json", "kept/inception.start.sol"],
               timed=True, solves=True)
    yield Case("profile-fit", ["moirai-profile", "fit", "-q", "-o", "fit.txt",
                               "bert_large.profile.xml"], ["fit.txt"],
               most=300)
    yield Case("profile-run", ["moirai-profile", "run", "-q", "--runs", "1",
                               "--pin", "off", "-c", "model.cluster.xml",
                               "-o", "t.profile.xml", "model.xml"],
               ["t.profile.xml"], read=("t.profile.xml",), measured=True,
               most=300)
    yield Case("benchmark", ["moirai-benchmark", "-q", "--runs", "1", "--cpus",
                             "1", "--gpus", "none", "--python", "none", "-o",
                             "b.json", "--time", "1", "model.xml"],
               ["b.json"], measured=True, timed=True, most=300)
    yield Case("cluster", ["moirai-cluster", "discover", "-q", "--cpus", "1",
                           "-o", "c.xml"], ["c.xml"], measured=True)
    yield Case("cluster-token", ["moirai-cluster", "token", "t.token"],
               ["t.token"], read=("t.token",), measured=True, once=True)
    yield Case("exec", EXEC + ["-o", "out", "--plan", "plan.json",
                               "--report", "report.txt", "model.sol"],
               ["out/output0.npy", "plan.json", "report.txt"], measured=True)
    yield Case("exec-check", EXEC + ["--check", "--trace", "trace.json",
                                     "--json", "model.sol"], ["trace.json"],
               measured=True)
    yield Case("exec-dry-run", ["moirai-exec", "-q", "--dry-run", "--plan",
                                "plan.json", "model.sol"], ["plan.json"],
               measured=True)
    yield Case("exec-pack", ["moirai-exec", "-q", "--bundle", "b.tar.gz",
                             "model.sol"], ["b.tar.gz"])
    yield Case("exec-bundle", EXEC + ["-o", "out", "job.tar"],
               ["out/output0.npy"], measured=True)
    yield Case("exec-requests", ["moirai-exec", "-q", "--requests", "2",
                                 "--in-flight", "2", "-o", "many",
                                 "model.sol"],
               ["many/0000/output0.npy", "many/0001/output0.npy"],
               measured=True, slow=True)
    yield Case("exec-stream", ["sh", "-c", "exec moirai-exec -q --inputs - "
                               "--in-flight 2 -o - --report report.txt "
                               "model.sol <stream >/dev/null"],
               ["report.txt"], measured=True, slow=True)
    # Samples have one rank of each.
    for rank in 0, 1:
        yield Case(f"exec-tcp-{rank}", EXEC + ["-o", "out", "model.sol"],
                   ["out/output0.npy"], measured=True, ranks=2, hit=rank,
                   most=60, slow=rank == 1)
        yield Case(f"exec-shm-{rank}", EXEC + ["-o", "out", "model.sol"],
                   ["out/output0.npy"], measured=True, ranks=2, hit=rank,
                   most=60, slow=rank == 0, env={"MOIRAI_NO_SHM": None})
        yield Case(f"exec-plain-{rank}", EXEC + ["--plain", "-o", "out",
                                                 "model.sol"],
                   ["out/output0.npy"], measured=True, ranks=2, hit=rank,
                   most=60, slow=rank == 0)
        yield Case(f"exec-certificate-{rank}", EXEC + TLS + [
            "-o", "out", "model.sol"], ["out/output0.npy"], measured=True,
            ranks=2, hit=rank, most=60, slow=rank == 1,
            env={"MOIRAI_TOKEN": None})
        yield Case(f"cluster-tcp-{rank}", [
            "moirai-cluster", "discover", "-q", "--cpus", "1", "-o", "c.xml"],
            ["c.xml"], measured=True, ranks=2, hit=rank, most=60,
            slow=rank == 0)
    if shutil.which("mpirun"):
        yield Case("exec-mpi", EXEC + ["-o", "out", "model.sol"],
                   ["out/output0.npy"], measured=True, launcher=MPIRUN,
                   most=12, slow=True, env=MPI)


def make_inputs(folder, examples):
    """Writes the inputs of all cases; True on success."""
    for name in "inception.graphml", "inception.cluster.xml", \
            "bert_large.profile.xml":
        shutil.copy(os.path.join(examples, name), folder)
    for name in os.listdir(os.path.join(examples, "two_branches")):
        shutil.copy(os.path.join(examples, "two_branches", name), folder)
    for made in "reference", "out", "kept", "tmp", "many", "many/0000", \
            "many/0001":
        os.mkdir(os.path.join(folder, made))
    shutil.move(os.path.join(folder, "output0.npy"),
                os.path.join(folder, "reference"))
    with open(os.path.join(folder, "solver.sh"), "w") as script:
        script.write("cat inception.sol >\"$2\"\n")
    with open(os.path.join(folder, "models.xml"), "w") as models:
        models.write('<models><model name="own" like="a100" sms="99"/>'
                     "</models>\n")
    with open(os.path.join(folder, "own.xml"), "w") as cluster:
        cluster.write('<cluster><device id="A" model="own"/></cluster>\n')
    steps = [
        "openssl req -x509 -newkey ed25519 -nodes -days 30 -subj /CN=moirai "
        "-keyout key.pem -out cert.pem 2>/dev/null || :",
        "moirai-emit -q -o inception.lp inception.graphml",
        "moirai-place -q --assist none --threads 1 --time 0 --rounds 20 "
        "-o inception.sol inception.graphml",
        "moirai-place -q --assist none --threads 1 --time 0 --rounds 2 "
        "-o model.sol model.xml",
        "moirai-exec -q --bundle job.tar model.sol",
        "cat input0.npy input0.npy >stream",
    ]
    for step in steps:
        done = subprocess.run(step, shell=True, cwd=folder,
                              stdout=subprocess.DEVNULL)
        if done.returncode != 0:
            print(f"cannot prepare: {step}")
            return False
    return True
