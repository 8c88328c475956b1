/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ledger.h - allocation of work to the jobs of the search: a multi-armed bandit
 * with an optimistic prior, whose arms are the jobs (job.h), whose cost is
 * counted work and whose reward is the part of the makespan by which a job
 * narrowed the gap.
 *
 * A round has a budget, a fraction of the work so far.  Each job is credited
 * with a share of it in proportion to its reward per unit of work, recent
 * rounds counting most; a job whose items are larger than its credit saves it
 * for a later round (deficit round robin).  Nothing depends on clocks or
 * threads.
 */
#ifndef MO_SOLVERS_SEARCH_DRIVER_LEDGER_H
#define MO_SOLVERS_SEARCH_DRIVER_LEDGER_H

#include <stdint.h>

#include "base/error.h"

typedef struct mo_search_account {
    int weight;        /* of the job (job.h); 1 at first */
    double potential;  /* part of the gap that the job may close; 1 at first */
    double work, gain; /* discounted by round */
    int64_t credit;
} mo_search_account;

typedef struct mo_search_ledger {
    mo_search_account *accounts;
    int n;
    int64_t spent; /* by all jobs */
} mo_search_ledger;

/* Work that a job may do in the opening round, and that all jobs may do in the
 * first one. */
#define MO_SEARCH_OPENING_WORK INT64_C(500000000)
#define MO_SEARCH_FIRST_WORK   INT64_C(1000000000)

/* The caller clears the ledger, also after a failure. */
mo_status mo_search_ledger_init(mo_search_ledger *ledger, int n, mo_error *err);
void mo_search_ledger_clear(mo_search_ledger *ledger);

/* Credits the accounts with their shares of the budget of a round, at most
 * max_work.  gap is the relative gap, which no job can gain more than.  raises
 * counts how often no job had an item for the budget: it doubles each time. */
void mo_search_ledger_begin_round(mo_search_ledger *ledger, double gap,
                                  int64_t max_work, int raises);

static inline int64_t mo_search_ledger_credit(const mo_search_ledger *ledger,
                                              int job)
{
    return ledger->accounts[job].credit;
}

/* Charges a job with work, and records by which part of the makespan it has
 * narrowed the gap. */
void mo_search_ledger_charge(mo_search_ledger *ledger, int job, int64_t work,
                             double gain);

/* Adds a gain that the work charged before has led to. */
void mo_search_ledger_reward(mo_search_ledger *ledger, int job, double gain);

#endif
