/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/driver/ledger.h"

#include <math.h>
#include <stdlib.h>

#include "base/minmax.h"

enum { ROUND_PART = 3 };   /* a round has this part of the work so far */
#define DISCOUNT       0.6 /* of work and gain, from round to round */
#define LONG_SEARCH    100 /* times the work so far closes the gap */
#define CREDIT_BUDGETS 2   /* a job saves the budgets of so many rounds */

mo_status mo_search_ledger_init(mo_search_ledger *m, int n, mo_error *err)
{
    *m = (mo_search_ledger){ .n = n };
    m->accounts = calloc((size_t) n + 1, sizeof *m->accounts);
    for (int i = 0; m->accounts && i < n; i++)
        m->accounts[i].weight = m->accounts[i].potential = 1;
    return m->accounts ? MO_OK : mo_fail_memory(err);
}

void mo_search_ledger_clear(mo_search_ledger *m)
{
    free(m->accounts);
}

/* The share of a job: its reward per unit of work, weighted.  The prior is a
 * job of average reward, tried with its share of the budget: jobs that have not
 * gained yet are tried less and less, but never dropped. */
static double share_of(const mo_search_account *a, double prior_rate,
                       double prior_work)
{
    return a->weight * a->potential * (a->gain + prior_rate * prior_work) /
           (a->work + prior_work);
}

/* The average over all jobs; at least, that the gap is closed with a multiple
 * of the work so far. */
static double average_rate(const mo_search_ledger *m, double gap, double budget)
{
    double work = budget, gain = 0;

    for (int i = 0; i < m->n; i++) {
        work += m->accounts[i].work;
        gain += m->accounts[i].gain;
    }
    return fmax(gain / work,
                gap / (LONG_SEARCH * ((double) m->spent + budget)));
}

void mo_search_ledger_begin_round(mo_search_ledger *m, double gap,
                                  int64_t max_work, int raises)
{
    int64_t budget = mo_min_i64(
        mo_max_i64(m->spent / ROUND_PART, MO_SEARCH_FIRST_WORK) << raises,
        max_work);
    double prior_work = (double) budget / m->n, sum = 0;
    double prior_rate = average_rate(m, gap, (double) budget);

    /* A job that has not used its credit for long has nothing to do. */
    for (int i = 0; i < m->n; i++)
        if (m->accounts[i].credit < CREDIT_BUDGETS * budget)
            sum += share_of(&m->accounts[i], prior_rate, prior_work);
    for (int i = 0; i < m->n; i++) {
        mo_search_account *a = &m->accounts[i];

        if (a->credit >= CREDIT_BUDGETS * budget)
            continue;
        a->credit += (int64_t) (share_of(a, prior_rate, prior_work) / sum *
                                (double) budget);
        a->credit = mo_min_i64(a->credit, CREDIT_BUDGETS * budget);
    }
}

void mo_search_ledger_charge(mo_search_ledger *m, int job, int64_t work,
                             double gain)
{
    mo_search_account *a = &m->accounts[job];

    a->work = DISCOUNT * a->work + (double) work;
    a->gain = DISCOUNT * a->gain + gain;
    a->credit -= work;
    m->spent += work;
}

void mo_search_ledger_reward(mo_search_ledger *m, int job, double gain)
{
    m->accounts[job].gain += gain;
}
