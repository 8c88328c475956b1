# SPDX-License-Identifier: Apache-2.0
"""The command moirai-export."""
import argparse
import contextlib
import difflib
import os
import signal
import sys
import time
import traceback

from .graph import ExportError
from .source import export

USAGE = """\
Usage: moirai-export [OPTION]... SOURCE
Write a network of a framework as a graph and its weights.

SOURCE is a torch.export program .pt2, or FILE.py:NAME or MODULE:NAME, a
function that returns a torch.nn.Module and example inputs, a tuple or a dict,
or a folder with model.py and weight_meta.py, a graph that torch.compile
captured.

Options:
  -o, --output=FILE       the graph; SOURCE with .graphml unless given
      --shape=NAME=DIMS   size of an input with dynamic dimensions, as in
                          ids=1,128
      --max-length=N      export a language model of transformers to generate
                          text: a workload of two phases with a cache of N
                          tokens
      --no-weights        leave out the values of parameters: the graph can be
                          placed, and run with --random-weights
  -q, --quiet             print errors only
  -v, --verbose           log each step; with an error, where it was raised
      --help              print this help and exit
      --version           print the version
      --completion=SHELL  print a completion script for this shell
                          (bash|zsh|fish)

The weights go beside the graph, into a file .bin.  Exit status: 0 written,
1 failed, 2 usage.
"""

WITH_VALUE = {"output": "file", "shape": None, "max-length": None,
              "completion": "bash zsh fish"}
FLAGS = ("no-weights", "quiet", "verbose", "help", "version")
LETTERS = {"output": "o", "quiet": "q", "verbose": "v"}


class Parser(argparse.ArgumentParser):
    """Errors in the words of the other commands."""

    def error(self, message):
        self.exit(2, f"moirai-export: {message}; "
                     "try 'moirai-export --help'\n")

    def parse_args(self, arguments=None, namespace=None):
        arguments = sys.argv[1:] if arguments is None else arguments
        self.check_names(arguments)
        return super().parse_args(arguments, namespace)

    def check_names(self, arguments):
        """argparse reports a missing operand before an unknown option."""
        known = {*WITH_VALUE, *FLAGS}
        words = iter(arguments)
        for word in words:
            name, equals, _ = word[2:].partition("=")
            if word == "--":
                return
            if not word.startswith("--"):
                if word == "-o":
                    next(words, None)
                continue
            if name not in known:
                close = difflib.get_close_matches(name, known, 1, 0.75)
                hint = f" (did you mean '--{close[0]}'?)" if close else ""
                self.error(f"unknown option '--{name}'{hint}")
            if name in WITH_VALUE and not equals:
                next(words, None)


class Help(argparse.Action):
    def __call__(self, parser, *_):
        sys.stdout.write(USAGE)
        parser.exit(0)


def names(name):
    letter = f"-{LETTERS[name]} " if name in LETTERS else ""
    return f"{letter}--{name}"


def bash():
    """The script of the same form as src/base/completion.c writes."""
    cases = ""
    for name, values in WITH_VALUE.items():
        offer = {None: None, "file": "compgen -f"}.get(
            values, f"compgen -W '{values}'")
        cases += f"    {names(name).replace(' ', '|')})\n"
        if offer:
            cases += (f"        mapfile -t COMPREPLY < <({offer} -- "
                      '"$word")\n')
        cases += "        return ;;\n"
    every = " ".join(names(name) for name in (*WITH_VALUE, *FLAGS))
    return f"""\
# bash completion for moirai-export
_moirai_export()
{{
    local word=${{COMP_WORDS[COMP_CWORD]}}
    local before=${{COMP_WORDS[COMP_CWORD-1]}}
    COMPREPLY=()
    # --name=value arrives as three words.
    if [[ $word == = ]]; then
        word=
    elif [[ $before == = && $COMP_CWORD -ge 2 ]]; then
        before=${{COMP_WORDS[COMP_CWORD-2]}}
    fi
    case $before in
{cases}    esac
    if [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W '{every}' -- "$word")
    else
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
    fi
}}
complete -o filenames -F _moirai_export moirai-export
"""


def zsh():
    lines = []
    for name in (*WITH_VALUE, *FLAGS):
        values = WITH_VALUE.get(name, "")
        value = ("" if name in FLAGS else "=:value:" +
                 {None: " ", "file": "_files"}.get(values, f"({values})"))
        lines.append(f"    '*--{name}{value}' \\\n")
        if name in LETTERS:
            lines.append(f"    '*-{LETTERS[name]}{value.replace('=', '+', 1)}'"
                         " \\\n")
    return ("#compdef moirai-export\n_arguments -s -S \\\n" +
            "".join(lines) + "    '*:file:_files'\n")


def fish():
    text = "# fish completion for moirai-export\n"
    for name in (*WITH_VALUE, *FLAGS):
        values = WITH_VALUE.get(name, "")
        letter = f" -s {LETTERS[name]}" if name in LETTERS else ""
        value = ("" if name in FLAGS else
                 {None: " -x", "file": " -r -F"}.get(
                     values, f" -x -a '{values}'"))
        text += f"complete -c moirai-export{letter} -l {name}{value}\n"
    return text


class Completion(argparse.Action):
    def __call__(self, parser, _, shell, *__):
        sys.stdout.write({"bash": bash, "zsh": zsh, "fish": fish}[shell]())
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


def capacity(text):
    if not text.isdigit() or not 2 <= int(text) <= 2 ** 24:
        raise argparse.ArgumentTypeError(f"'{text}' is no number of tokens from "
                                         "2 to 16777216")
    return int(text)


def options(arguments):
    parser = Parser(prog="moirai-export", add_help=False, usage=USAGE,
                    allow_abbrev=False)
    parser.add_argument("-o", "--output")
    parser.add_argument("--shape", type=shape, action="append", default=[])
    parser.add_argument("--max-length", type=capacity)
    parser.add_argument("--no-weights", action="store_true")
    parser.add_argument("-q", "--quiet", action="store_true")
    parser.add_argument("-v", "--verbose", action="store_true")
    parser.add_argument("--help", action=Help, nargs=0)
    parser.add_argument("--completion", action=Completion,
                        choices=WITH_VALUE["completion"].split())
    parser.add_argument("--version", action="version", version=(
        f"moirai-export {os.environ.get('MOIRAI_VERSION', '')}".rstrip()))
    parser.add_argument("source")
    return parser.parse_args(arguments)


def default_output(source, suffix):
    """The source's name, in the working folder."""
    place, _, name = source.rpartition(":")
    if os.path.isdir(source):
        return os.path.basename(os.path.abspath(source)) + suffix
    if place and name.isidentifier():
        return name + suffix
    return os.path.splitext(source)[0] + suffix


class Progress:
    """One line on a terminal that is written over; nothing elsewhere."""

    WIDTH = 30

    def __init__(self, quiet):
        self.shown = not quiet and sys.stderr.isatty()
        self.last = ""

    def __call__(self, step, done, total):
        text = step
        if total:
            full = self.WIDTH * done // total
            text = (f"{step} [{'#' * full}{' ' * (self.WIDTH - full)}] "
                    f"{100 * done // total} % of {total / 2 ** 20:.0f} MiB")
        if self.shown and text != self.last:
            sys.stderr.write(f"\r\033[Kmoirai-export: {text}")
            sys.stderr.flush()
            self.last = text

    def clear(self):
        if self.shown and self.last:
            sys.stderr.write("\r\033[K")
            self.last = ""


def reason_of(error, source, output):
    """One line for any error."""
    if isinstance(error, ExportError):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or output}: {error.strerror}"
    if isinstance(error, MemoryError):
        return (f"{source}: out of memory; --no-weights, or a module on the "
                "device meta, needs less")
    if isinstance(error, RecursionError):
        return f"{source}: is nested too deeply"
    text = " ".join(str(error).split())[:300]
    return (f"{source}: an error of moirai-export itself: "
            f"{type(error).__name__}: {text}; -v shows where, please report it")


def interrupt(*_):
    raise KeyboardInterrupt


def main(arguments=None):
    chosen = options(arguments)
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, interrupt)  # so that no files are left
    output = chosen.output or default_output(
        chosen.source, ".xml" if chosen.max_length else ".graphml")
    begin, progress = time.monotonic(), Progress(chosen.quiet)
    if chosen.verbose:
        sys.stderr.write(f"moirai-export: reading {chosen.source} with Python "
                         f"{sys.version.split()[0]}, {sys.executable}\n")
    try:
        with contextlib.redirect_stdout(sys.stderr):  # what SOURCE prints
            nodes = export(chosen.source, path=output,
                           shapes=dict(chosen.shape),
                           weights=not chosen.no_weights, progress=progress,
                           max_length=chosen.max_length)
    except KeyboardInterrupt:
        progress.clear()
        sys.stderr.write(f"moirai-export: {chosen.source}: interrupted\n")
        return 1
    except Exception as error:  # never a traceback, unless asked for
        progress.clear()
        if chosen.verbose:
            traceback.print_exc()
        sys.stderr.write("moirai-export: "
                         f"{reason_of(error, chosen.source, output)}\n")
        return error.code if isinstance(error, ExportError) else 1
    progress.clear()
    if chosen.verbose:
        sys.stderr.write("moirai-export: exported in "
                         f"{time.monotonic() - begin:.2f} s\n")
    if not chosen.quiet:
        for node in nodes:
            if "fixed" in node.attrs:
                sys.stderr.write(f"moirai-export: input '{node.name}' is fixed "
                                 f"at {node.attrs['fixed']}, which the module "
                                 "reads\n")
        sys.stderr.write(f"moirai-export: {len(nodes)} nodes in {output}\n")
    return 0
