# SPDX-License-Identifier: Apache-2.0
"""The networks of the experiment, and how their graphs are generated."""
import importlib.util
import os

from experiment_store import digest, digest_of_file

ZOO = ("gpt3-330m", "swin-1.8b", "alphafold2-87m")
# Functions of gpu_models.py, and what each needs beside PyTorch.
EXPORTED = {
    "gpt2": "transformers",
    "bert": "transformers",
    "swin_t": "torchvision",
    "inception_v3": "torchvision",
    "googlenet": "torchvision",
}


class Model:
    """command writes the graph to the path appended to it, from the file
    source, if any; a model without a command is an existing file."""

    def __init__(self, name, command=None, source=None, needs=(), path=None):
        self.name, self.command, self.path = name, command, path
        self.source, self.needs = source, needs

    def recipe(self):
        """Does not depend on the machine."""
        words = [os.path.basename(word) for word in self.command]
        return digest(words, self.source and digest_of_file(self.source))

    def missing(self):
        """Returns what it requires and is not installed, or None."""
        for module in self.needs:
            if importlib.util.find_spec(module) is None:
                return f"there is no {module}"
        return None


def from_zoo(name, layers, more):
    command = ["moirai-zoo", "-q", name] + more
    if layers:
        command += ["--layers", str(layers)]
    return Model(f"{name}-{layers}l" if layers else name, command + ["-o"])


def exported(name):
    here = os.path.dirname(os.path.abspath(__file__))
    source = os.path.join(here, "gpu_models.py")
    return Model(name, ["moirai-export", "-q", f"{source}:{name}", "-o"],
                 source, ("torch", EXPORTED[name]))


def from_file(path):
    name = os.path.basename(path)
    if name == "model.xml":
        name = os.path.basename(os.path.dirname(os.path.abspath(path)))
    return Model(name.rsplit(".", 1)[0], path=os.path.abspath(path))


def all_models(layers, zoo_options, files):
    """With files, these and no others."""
    if files:
        return [from_file(path) for path in files]
    return [from_zoo(name, layers, zoo_options) for name in ZOO] + [
        exported(name) for name in EXPORTED
    ]
