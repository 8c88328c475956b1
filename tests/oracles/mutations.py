# SPDX-License-Identifier: Apache-2.0
"""Mutation test: changes valid solutions in many ways and compares the verdict
of moirai-check on each with the expected one.

    mutations.py SOLUTION...

What must be refused is refused with the right reason.  What is accepted must be
a schedule in which no tensor is read before it has arrived, with a makespan no
longer than the solution claims.
"""
import json
import os
import random
import re
import subprocess
import sys

WANTED = int(os.environ.get("MOIRAI_MUTATIONS", "200"))


def check(path):
    schedule = path + ".json"
    if os.path.exists(schedule):
        os.remove(schedule)
    done = subprocess.run(
        ["moirai-check", "-q", "--json", "--schedule", schedule, path],
        capture_output=True, text=True)
    verdict = json.loads(done.stdout) if done.stdout else {}
    if done.returncode == 0:
        with open(schedule) as file:
            verdict["schedule"] = json.load(file)["schedule"]
    return done.returncode, verdict, done.stderr


def is_schedule(verdict, claim_us):
    """Returns None for a valid schedule, else the error: no tensor is sent
    before it is computed or read before it has arrived, and the makespan is
    not above the claim nor below the bound."""
    starts = verdict["schedule"]["ops"]
    place = verdict["placement"]
    for t in verdict["schedule"]["transfers"]:
        if t["start_us"] > t["end_us"] or t["start_us"] < starts[t["from"]]:
            return "a transfer before its producer"
        for reader in t["to"]:
            if place[reader] != t["device"]:
                return "a transfer to another device"
            if starts[reader] < t["end_us"] - 1e-9:
                return "a reader before its transfer"
    if claim_us is not None and \
            verdict["makespan_us"] > claim_us * (1 + 1e-4) + 0.001:
        return "longer than claimed"
    if verdict["makespan_us"] < verdict["bound_us"] - 1e-9:
        return "below the bound"
    return None


class Solution:
    def __init__(self, path):
        with open(path) as file:
            self.lines = file.read().splitlines()
        self.path = path
        self.columns = [i for i, line in enumerate(self.lines)
                        if re.match(r"[a-z]\S* ", line)]
        self.unit_us = next(
            int(m.group(1)) / 1000 for line in self.lines
            if (m := re.match(r"moirai_u_(\d+) ", line)))

    def find(self, pattern):
        return [i for i in self.columns if re.match(pattern, self.lines[i])]

    def value(self, i):
        return float(self.lines[i].split()[1])


def devices(s):
    return 1 + max(int(m.group(1)) for line in s.lines
                   if (m := re.match(r"x_\d+_(\d+) ", line)))


# Each mutation returns the changed lines and the expected verdict: a pattern
# of the reason, None for harmless, or "any": the definitions decide.

def moved_op(s, rng):
    lines = list(s.lines)
    i = rng.choice(s.find(r"x_\d+_\d+ 1$"))
    op, k = re.match(r"x_(\d+)_(\d+)", lines[i]).groups()
    others = [d for d in range(devices(s)) if d != int(k)]
    if not others:
        return None
    new = "x_%s_%d" % (op, rng.choice(others))
    lines = [line for line in lines if not line.startswith(new + " ")]
    lines[lines.index(s.lines[i])] = new + " 1"
    return lines, "any"


def flipped_order(s, rng):
    ones = s.find(r"o_\d+_\d+ 1$")
    if not ones:
        return None
    lines = list(s.lines)
    i = rng.choice(ones)
    a, b = re.match(r"o_(\d+)_(\d+)", lines[i]).groups()
    lines = [line for line in lines if not line.startswith("o_%s_%s " % (b, a))]
    lines[lines.index(s.lines[i])] = "o_%s_%s 1" % (b, a)
    return lines, "any"


def swapped_starts(s, rng):
    starts = s.find(r"s_\d+ ")
    if len(starts) < 2:
        return None
    lines = list(s.lines)
    i, j = rng.sample(starts, 2)
    a, b = lines[i].split(), lines[j].split()
    lines[i], lines[j] = "%s %s" % (a[0], b[1]), "%s %s" % (b[0], a[1])
    return lines, "any"


def dropped_place(s, rng):
    lines = list(s.lines)
    del lines[rng.choice(s.find(r"x_\d+_\d+ 1$"))]
    return lines, r"\(1c\) .*on (no|any) device"


def dropped_column(s, rng):
    lines = list(s.lines)
    del lines[rng.choice(s.find(r"[sto]_"))]
    return lines, "any"


def duplicate(s, rng):
    lines = list(s.lines)
    i = rng.choice(s.find(r"[xs]_|w "))
    lines.insert(rng.randrange(s.columns[0], len(lines)), lines[i])
    return lines, r"is there twice"


def half(s, rng):
    lines = list(s.lines)
    i = rng.choice(s.find(r"x_\d+_\d+ 1$"))
    lines[i] = lines[i].split()[0] + " 0.5"
    return lines, r"\(1c\) .*only in part"


def nearly_one(s, rng):
    lines = list(s.lines)
    i = rng.choice(s.find(r"x_\d+_\d+ 1$"))
    lines[i] = lines[i].split()[0] + " 0.99999999"
    return lines, None


def foreign_digest(s, rng):
    lines = list(s.lines)
    i = rng.choice(s.find(r"moirai_[gci]_"))
    name = lines[i].split()[0]
    lines[i] = re.sub(r"(moirai_[gci]_........)[0-9a-f]{8}",
                      r"\g<1>%08x" % rng.randrange(1 << 32), name) + " 1"
    return lines, r"missing here: .* is another|come out differently"


def truncated(s, rng):
    """Drops whole lines, identity or ops among them."""
    first = s.find(r"x_\d+_\d+ 1$")[-1]
    return s.lines[:rng.randrange(s.columns[0] + 1, first + 1)], \
        r"does not say which graph|\(1c\)|which graph|give the graph"


def other_header(s, rng):
    columns = [s.lines[i] for i in s.columns]
    w = [line for line in columns if line.startswith("w ")][0].split()[1]
    header = rng.choice([
        ["solution status: optimal solution found", "objective value: " + w],
        ["=obj= " + w],
        ["# MIP start", "# Objective value = " + w],
        ["Model status", "Optimal", "", "# Primal solution values", "Feasible",
         "Objective " + w, "# Columns %d" % len(columns)]])
    tail = ["# Rows 0"] if header[0] == "Model status" else []
    return header + columns + tail, None


def wrong_header(s, rng):
    columns = [s.lines[i] for i in s.columns]
    return ["=obj= 0.5"] + columns, r"\(1\) the objective is 0.5"


def claim_too_good(s, rng):
    return ["w %r" % (float(line.split()[1]) * 0.9)
            if line.startswith("w ") else line for line in s.lines
            if not line.startswith(("#", "="))], r"\(1\) the objective"


def shuffled(s, rng):
    columns = [s.lines[i] for i in s.columns]
    rng.shuffle(columns)
    return columns, None


MUTATIONS = [moved_op, flipped_order, swapped_starts, dropped_place,
             dropped_column, duplicate, half, nearly_one, foreign_digest,
             truncated, other_header, wrong_header, claim_too_good, shuffled]


def claimed_us(s, lines):
    for line in lines:
        if line.startswith("w "):
            return float(line.split()[1]) * s.unit_us
    return None


def judge(s, lines, wanted, path):
    with open(path, "w") as file:
        file.write("\n".join(lines) + "\n")
    code, verdict, errors = check(path)
    reason = " ".join(verdict.get("violations", [])) + errors
    if code not in (0, 1, 4):
        return "exit status %d: %s" % (code, errors)
    if wanted is None:
        return None if code == 0 else "harmless, but refused: " + reason
    if code == 0:
        if wanted != "any":
            return "accepted, but should be refused: " + wanted
        return is_schedule(verdict, claimed_us(s, lines))
    if wanted == "any":
        known = re.search(r"\((1[a-g]?)\)|pin|group", reason)
        return None if known else "refused without a rule: " + reason
    return None if re.search(wanted, reason) else "another reason: " + reason


def main():
    seed = int(os.environ.get("MOIRAI_SEED", "1"))
    rng = random.Random(seed)
    solutions = [Solution(path) for path in sys.argv[1:]]
    done = wrong = 0
    while done < WANTED:
        s = solutions[done % len(solutions)]
        mutation = MUTATIONS[done // len(solutions) % len(MUTATIONS)] \
            if done < len(solutions) * len(MUTATIONS) else rng.choice(MUTATIONS)
        made = mutation(s, rng)
        done += 1
        if made is None:
            continue
        fault = judge(s, made[0], made[1],
                      os.path.join(os.path.dirname(s.path), "mutant.sol"))
        if fault:
            wrong += 1
            print("%s of %s, number %d, seed %d: %s" % (
                mutation.__name__, s.path, done, seed, fault))
    print("%d changes" % done)
    return 1 if wrong else 0


sys.exit(main())
