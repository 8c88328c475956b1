/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the least period of random problems by enumeration:
 *
 *     print_periods FIRST COUNT
 *
 * One line a seed: the seed, its regime (congestion, tensors, memory; all 16
 * without live memory in turn), and the period in ns, or -1 where no placement
 * fits. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/exhaustive_period.h"
#include "tests/support/random_problem.h"
#include "tests/support/suite.h"

static mo_regime regime_in_turn(unsigned seed)
{
    const mo_memory memory[] = { MO_MEMORY_STATIC, MO_MEMORY_NONE };

    return (mo_regime){ (mo_congestion) (seed % 4), (mo_tensors) (seed / 4 % 2),
                        memory[seed / 8 % 2] };
}

int main(int argc, char **argv)
{
    unsigned first, count;

    if (argc != 3) {
        fputs("usage: print_periods FIRST COUNT\n", stderr);
        return 2;
    }
    first = (unsigned) strtoul(argv[1], NULL, 10);
    count = (unsigned) strtoul(argv[2], NULL, 10);
    for (unsigned seed = first; seed < first + count; seed++) {
        mo_regime regime = regime_in_turn(seed);
        random_problem r;
        problem p = { 0 };

        random_problem_make(&r, seed);
        problem_make(&p, r.graph, r.cluster, NULL);
        printf("%u %s %s %s %" PRId64 "\n", seed,
               mo_congestion_names[regime.congestion],
               mo_tensors_names[regime.tensors], mo_memory_names[regime.memory],
               exhaustive_period(p.x, &regime));
        problem_clear(&p);
        random_problem_clear(&r);
    }
    return 0;
}
