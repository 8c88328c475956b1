# SPDX-License-Identifier: Apache-2.0
"""tutorial.py FILE: runs the commands of a page of Markdown in this folder.

Commands are the lines "$ COMMAND" of fenced blocks; the lines up to the next one
are its output.  "..." within a line stands for any text, as a line of its own
for any lines.  Prints a line of TAP for each command.
"""
import os
import re
import subprocess
import sys


def commands(path):
    """Yields (command, expected output lines)."""
    fenced, found = False, None
    with open(path, encoding="utf-8") as page:
        for line in page.read().splitlines():
            if line.startswith("```"):
                fenced = not fenced
                if not fenced and found:
                    yield found
                    found = None
            elif fenced and line.startswith("$ "):
                if found:
                    yield found
                found = (line[2:], [])
            elif fenced:
                found[1].append(line)


def pattern(lines):
    """The regular expression of an output."""
    text = "".join(
        r"(?:.*\n)*" if line == "..."
        else ".*".join(map(re.escape, line.split("..."))) + "\n"
        for line in lines)
    return re.compile(text)


def run(command):
    """Returns exit status and standard output; cd lasts."""
    if command.startswith("cd "):
        os.chdir(command[3:])
        return 0, ""
    done = subprocess.run(["sh", "-c", command], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False)
    return done.returncode, done.stdout


def main():
    count = 0
    for command, expected in commands(sys.argv[1]):
        count += 1
        status, output = run(command)
        good = status == 0 and pattern(expected).fullmatch(output)
        print(f"{'ok' if good else 'not ok'} {count} - {command}")
        if not good:
            print(f"# exit status {status}, output:")
            for line in output.splitlines():
                print(f"# {line}")
    print(f"1..{count}")


main()
