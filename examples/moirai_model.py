# SPDX-License-Identifier: Apache-2.0
"""Files of moirai-emit and moirai-solve, for the examples beside this one.

Errors are one line, and exit status 1; a wrong command line is 2.
"""
import csv
import os
import sys

NAME = os.path.basename(sys.argv[0])


def fail(text, status=1):
    """Ends the program with one line on standard error."""
    print(f"{NAME}: {text}", file=sys.stderr)
    sys.exit(status)


def arguments():
    """The arguments: model, map, start, two ops, and the solution to write."""
    names = "MODEL MAP START OP OTHER SOLUTION"
    if len(sys.argv) != len(names.split()) + 1:
        print(f"usage: {NAME} {names}", file=sys.stderr)
        sys.exit(2)
    return sys.argv[1:]


def open_text(path, mode="r"):
    """An open file; newlines are kept, as the csv module requires."""
    try:
        return open(path, mode, encoding="utf-8", newline="")
    except OSError as error:
        fail(f"{path}: {error.strerror}")


def check_slack(path):
    """Ends unless the model was emitted for rows of one's own."""
    with open_text(path) as file:
        head = [line for _, line in zip(range(40), file)]
    if not any(line[1:].startswith(" slack:") for line in head):
        fail(f"{path}: has no room for further rows, which may leave no "
             "schedule; emit it with --slack 2")


def columns_apart(path, one, other):
    """Pairs of columns that put both ops on the same device.

    An op has no column for a device on which it cannot be: pinned, or too
    large.
    """
    with open_text(path) as file:
        place = {(row["op"], row["device"]): row["column"]
                 for row in csv.DictReader(file) if row["meaning"] == "place"}
    for op in one, other:
        if op not in {known for known, _ in place}:
            fail(f"{path}: there is no op '{op}'")
    return [(place[one, device], place[other, device])
            for device in sorted({device for _, device in place})
            if (one, device) in place and (other, device) in place]


def read_start(path):
    """The values of the columns in a start; those not in it are 0."""
    values = {}
    with open_text(path) as file:
        for line in file:
            words = line.split()
            if len(words) == 2 and words[0] != "=obj=":
                values[words[0]] = float(words[1])
    return values


def write_solution(path, objective, values):
    """Writes columns and values in the format of moirai-solution(5)."""
    with open_text(path, "w") as file:
        print("=obj=", repr(objective), file=file)
        for name, value in values:
            print(name, repr(value), file=file)
