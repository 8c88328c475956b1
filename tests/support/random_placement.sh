# SPDX-License-Identifier: Apache-2.0
# random_placement.sh - sourced by the tests that place networks at random.
#
#     placed_at_random FILE DEVICES SEED
#
# prints a placement on D1, D2, ... of the ops of FILE, which is a verdict of
# moirai-check --json.
# shellcheck shell=sh

placed_at_random()
{
    awk -v n="$2" -v seed="$3" '
        BEGIN { srand(seed); print "{" }
        /^  "placement"/ { inside = 1; next }
        inside && /^  }/ { inside = 0 }
        inside { sub(/"[^"]*",?$/, ""); printf "%s%s\"D%d\"", between, $0,
            1 + int(rand() * n); between = ",\n" }
        END { print "\n}" }' "$1"
}
