# SPDX-License-Identifier: Apache-2.0
"""The command moirai-export."""
import argparse
import os
import sys

from .graph import ExportError
from .source import export

USAGE = """\
Usage: moirai-export [OPTION]... SOURCE
Write a network of a framework as a graph and its weights.

SOURCE is model.onnx, a torch.export program .pt2, or FILE.py:NAME or
MODULE:NAME, a function that returns a torch.nn.Module and example inputs, a
tuple or a dict.

Options:
  -o, --output=FILE          the graph; SOURCE with .graphml unless given
      --shape=NAME=DIMS      size of an input with dynamic dimensions, as in
                             ids=1,128
  -q, --quiet                say nothing but errors
      --help                 print this and leave
      --version              print the version and leave

The weights go beside the graph, into a file .bin.  Exit status: 0 written,
1 failed, 2 usage.
"""


class Parser(argparse.ArgumentParser):
    def error(self, message):
        self.exit(2, f"moirai-export: {message}; see moirai-export --help\n")


class Help(argparse.Action):
    def __call__(self, parser, *_):
        sys.stdout.write(USAGE)
        parser.exit(0)


def shape(text):
    """NAME=1,2,3; the name is empty if there is only one input."""
    name, equals, sizes = text.rpartition("=")
    try:
        dims = [int(size) for size in sizes.split(",")] if sizes else []
    except ValueError:
        dims = [-1]
    if not equals or min(dims, default=0) < 0:
        raise argparse.ArgumentTypeError(f"'{text}' is not NAME=1,2,3")
    return name or "0", dims


def options(arguments):
    parser = Parser(prog="moirai-export", add_help=False, usage=USAGE)
    parser.add_argument("-o", "--output")
    parser.add_argument("--shape", type=shape, action="append", default=[])
    parser.add_argument("-q", "--quiet", action="store_true")
    parser.add_argument("--help", action=Help, nargs=0)
    parser.add_argument("--version", action="version", version=(
        f"moirai-export {os.environ.get('MOIRAI_VERSION', '')}".rstrip()))
    parser.add_argument("source")
    return parser.parse_args(arguments)


def default_output(source):
    """The source's name, in the working folder."""
    place, _, name = source.rpartition(":")
    if place and name.isidentifier():
        return name + ".graphml"
    return os.path.splitext(source)[0] + ".graphml"


def main(arguments=None):
    chosen = options(arguments)
    output = chosen.output or default_output(chosen.source)
    try:
        nodes = export(chosen.source, path=output, shapes=dict(chosen.shape))
    except ExportError as error:
        sys.stderr.write(f"moirai-export: {error}\n")
        return 1
    except OSError as error:
        sys.stderr.write(f"moirai-export: {error.filename or output}: "
                         f"{error.strerror}\n")
        return 1
    if not chosen.quiet:
        sys.stderr.write(f"moirai-export: {len(nodes)} nodes in {output}\n")
    return 0
