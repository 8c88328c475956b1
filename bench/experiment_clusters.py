# SPDX-License-Identifier: Apache-2.0
"""The devices of an experiment.

    gpu:64,32,16,8@inter    parts of one GPU by multiprocessors (--emulate),
                            linked as a test bed of the paper is
    cpu:2,1                 threads of this machine
    FILE                    a cluster as it is, see moirai-cluster(5)
"""
import os
import xml.etree.ElementTree as xml

# The paper's test beds, as moirai-cluster(5) has them: Gbit/s from each device
# to each, microseconds, and GiB.
INTER = (
    (
        (0, 44.26, 32.92, 44.28),
        (42.39, 0, 35.32, 44.51),
        (33.2, 35.31, 0, 32.95),
        (42.08, 43.22, 33.28, 0),
    ),
    10,
    (11, 16, 8, 8),
)
INTRA = (
    (
        (0, 1170.04, 626.10, 610.56),
        (1148.16, 0, 618.98, 581.09),
        (630.43, 609.82, 0, 571.96),
        (622.67, 575.08, 581.35, 0),
    ),
    5,
    (32, 32, 16, 16),
)
TEST_BEDS = {"inter": INTER, "intra": INTRA}
IDS = "ABCD"
DEFAULTS = tuple(
    f"gpu:{parts}@{links}"
    for links in TEST_BEDS
    for parts in ("64,32,16,8", "32,32,16,16")
)

# Peaks of a multiprocessor of Hopper, and of a processor; times that are
# measured do not need them.
GPU_PEAKS = {"gflops": 507, "memory_bandwidth_gbs": 36, "launch_us": 4}
CPU_PEAKS = {"gflops": 40, "memory_bandwidth_gbs": 10, "launch_us": 1}
CPU_GBPS, CPU_LATENCY_US = 40, 5


class Cluster:
    """text is that of the file; running are the options of moirai-exec and
    moirai-profile beside it.  apart: no device is a processor, so that
    placement may run while they are measured."""

    def __init__(self, name, text, running=(), apart=False):
        self.name, self.text = name, text
        self.running, self.apart = list(running), apart


def peaks(of_one, n):
    """The launch latency does not depend on the size of a device."""
    return {
        key: value if key == "launch_us" else value * n
        for key, value in of_one.items()
    }


def add_link(root, source, target, gbps, latency_us):
    xml.SubElement(root, "link", {
        "from": source, "to": target, "gbps": str(gbps),
        "latency_us": str(latency_us),
    })


def text_of(root):
    xml.indent(root)
    return xml.tostring(root, encoding="unicode") + "\n"


def new_cluster(name):
    return xml.Element("cluster", {"name": name})


def add_device(root, device, **attributes):
    xml.SubElement(root, "device", {
        "id": device, **{key: str(value) for key, value in attributes.items()}
    })


def parts_of_gpu(parts, links):
    gbps, latency_us, memory_gib = TEST_BEDS[links]
    name = "-".join(map(str, parts)) + "-" + links
    root = new_cluster(name)
    for k, sms in enumerate(parts):
        add_device(root, IDS[k], gpu=0, sms=sms, memory_gib=memory_gib[k],
                   **peaks(GPU_PEAKS, sms))
    for a in range(len(parts)):
        for b in range(len(parts)):
            if a != b:
                add_link(root, IDS[a], IDS[b], gbps[a][b], latency_us)
    told = ",".join(map(str, parts))
    return Cluster(name, text_of(root), ["--emulate", told], apart=True)


def split_processors(parts):
    """Each thread has a processor of its own if there are enough of them."""
    there = sorted(os.sched_getaffinity(0))
    if len(there) < sum(parts):
        return [{"threads": n} for n in parts]
    split = []
    for n in parts:
        mine, there = there[:n], there[n:]
        split.append({"cpus": ",".join(map(str, mine))})
    return split


def threads_of_cpu(parts):
    name = "cpu-" + "-".join(map(str, parts))
    root = new_cluster(name)
    for k, (n, where) in enumerate(zip(parts, split_processors(parts))):
        add_device(root, IDS[k], kind="cpu", **where, **peaks(CPU_PEAKS, n))
    for a in range(len(parts)):
        for b in range(len(parts)):
            if a != b:
                add_link(root, IDS[a], IDS[b], CPU_GBPS, CPU_LATENCY_US)
    return Cluster(name, text_of(root))


def from_file(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    devices = xml.fromstring(text).iter("device")
    name = os.path.basename(path).rsplit(".xml", 1)[0]
    return Cluster(name.rsplit(".cluster", 1)[0], text,
                   apart=any(d.get("kind") != "cpu" for d in devices))


def read_parts(text):
    parts = [int(number) for number in text.split(",")]
    if len(parts) > len(IDS) or min(parts) < 1:
        raise ValueError
    return parts


def parse(spec):
    """Raises ValueError for an invalid text, OSError without the file."""
    kind, _, rest = spec.partition(":")
    if kind == "cpu":
        return threads_of_cpu(read_parts(rest))
    if kind == "gpu":
        parts, _, links = rest.partition("@")
        if links not in TEST_BEDS:
            raise ValueError
        return parts_of_gpu(read_parts(parts), links)
    return from_file(spec)
