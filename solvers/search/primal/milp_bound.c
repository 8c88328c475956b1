/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/primal/milp_subproblem.h"

#include <math.h>

static int64_t gcd(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

static int64_t divide_row(const mo_instance *x, int row, int64_t divisor)
{
    for (int kind = 0; kind < x->n_kinds; kind++)
        divisor = gcd(divisor, x->comm_ns[(int64_t) row * x->n_kinds + kind]);
    return divisor;
}

/* What divides all times of the part; 0: there are none but 0. */
static int64_t common_divisor(const mo_instance *x)
{
    int64_t n_places = (int64_t) x->n * x->n_devices, divisor = 0;

    for (int64_t at = 0; at < n_places && divisor != 1; at++)
        divisor = gcd(divisor, x->p_ns[at]);
    for (int q = 0; q < x->n_flows && divisor != 1; q++) {
        divisor = divide_row(x, x->flow_row[q], divisor);
        divisor = divide_row(x, x->tensor_row[x->flows[q].tensor], divisor);
    }
    return divisor;
}

/* Up to the next multiple of the divisor, if it is beyond the last one by more
 * than any solver is wrong. */
static int64_t round_up(int64_t lower_ns, int64_t divisor)
{
    int64_t over = divisor > 1 ? lower_ns % divisor : 0;

    if ((double) over <= 100 * MO_PRIMAL_MILP_TOLERANCE * (double) lower_ns)
        return lower_ns;
    return lower_ns + (divisor - over);
}

int64_t mo_primal_milp_bound_ns(const mo_instance *part, double bound_ns,
                                int64_t step_ns)
{
    double items = (double) part->n + part->n_flows;

    if (step_ns > 1)
        bound_ns -= items * (double) step_ns / 2;
    bound_ns -= MO_PRIMAL_MILP_TOLERANCE * fabs(bound_ns);
    if (!(bound_ns > 0) || bound_ns >= (double) MO_MAX_TOTAL_NS)
        return 0;
    return round_up((int64_t) bound_ns, common_divisor(part));
}
