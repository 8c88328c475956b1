/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/period/period_certificate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "schedule/period/loads.h"
#include "solvers/search/period/in_flight_search.h"
#include "solvers/search/period/packing_bound.h"

enum {
    PRICE_BITS = 58,
    MAX_PRICE = MO_PRICED_MAX_SUM,
    UNITS_WORK = 8 /* of a placement of an enumeration, by op */
};

/* Visited table entries between two looks at the limit of work. */
#define SLICE 1e8

/* Most work of the evaluation of an entry that is made here. */
#define PROVE_WORK INT64_C(20000000000)

bool mo_period_is_enumerable(const mo_period_problem *p)
{
    double n = 1;

    for (int u = 0; u < p->units->n && n <= MO_PERIOD_MAX_ENUMERATED; u++)
        n *= p->x->n_devices;
    return n <= MO_PERIOD_MAX_ENUMERATED;
}

static mo_status open_problem(const mo_proof_subject *subject,
                              mo_period_problem *p, mo_error *err)
{
    *p = (mo_period_problem){ 0 };
    return mo_period_problem_init(p, subject->part, &subject->domains->regime,
                                  err);
}

/* Reads prices behind the first parameters, which begin with the period of
 * their unit; *prices is NULL where their number is another. */
static mo_status read_prices(const mo_proof_subject *subject, size_t before,
                             const mo_period_problem *p, mo_priced_labelling *l,
                             double **prices, mo_error *err)
{
    size_t n = subject->n_params;
    mo_status status;

    *prices = NULL;
    if (n < before)
        return MO_OK;
    status = mo_priced_labelling_init(l, p, subject->params[0], err);
    if (status != MO_OK || n - before != (size_t) l->n_prices)
        return status;
    *prices = calloc(n + 1, sizeof **prices);
    if (!*prices)
        return mo_fail_memory(err);
    for (size_t i = before; i < n; i++)
        (*prices)[i - before] = ldexp((double) subject->params[i], -PRICE_BITS);
    return MO_OK;
}

mo_status mo_period_prove_lagrangian(const mo_proof_subject *subject,
                                     int64_t *lower_ns, mo_error *err)
{
    mo_period_problem p;
    mo_priced_labelling l = { 0 };
    double *prices = NULL, least;
    mo_status status = open_problem(subject, &p, err);

    if (status == MO_OK)
        status = read_prices(subject, 1, &p, &l, &prices, err);
    if (status == MO_OK && prices)
        *lower_ns =
            mo_max_i64(mo_priced_labelling_minimize(&l, prices, &least), 0);
    if (l.labelling)
        mo_stop_spend(subject->stop, (int64_t) mo_labelling_work(l.labelling));
    free(prices);
    mo_priced_labelling_clear(&l);
    mo_period_problem_clear(&p);
    return status;
}

/* Refutes that the period is less than what is claimed. */
mo_status mo_period_prove_branch(const mo_proof_subject *subject,
                                 int64_t *lower_ns, mo_error *err)
{
    const mo_period_step step = { .upper_ns = subject->value_ns,
                                  .stop = subject->stop };
    mo_period_problem p;
    mo_priced_labelling l = { 0 };
    mo_period_branching *b = NULL;
    double *prices = NULL, least, work;
    int64_t root_ns = 0;
    mo_status status = open_problem(subject, &p, err);

    if (status == MO_OK)
        status = read_prices(subject, 2, &p, &l, &prices, err);
    if (status == MO_OK && prices)
        root_ns =
            mo_max_i64(mo_priced_labelling_minimize(&l, prices, &least), 0);
    if (root_ns > 0) {
        status = mo_period_branching_new(&p, subject->params[0], root_ns,
                                         prices, 1, &b, err);
        work = (double) subject->params[1];
        *lower_ns = root_ns;
        while (status == MO_OK && work > 0 && *lower_ns < step.upper_ns &&
               !mo_stop_spend(subject->stop, (int64_t) fmin(work, SLICE))) {
            status = mo_period_branching_run(b, &step, fmin(work, SLICE),
                                             lower_ns, err);
            work -= SLICE;
        }
    }
    mo_period_branching_free(b);
    free(prices);
    mo_priced_labelling_clear(&l);
    mo_period_problem_clear(&p);
    return status;
}

mo_status mo_period_prove_packing(const mo_proof_subject *subject,
                                  int64_t *lower_ns, mo_error *err)
{
    mo_period_problem p;
    mo_status status = open_problem(subject, &p, err);

    if (status == MO_OK)
        status = mo_period_packing_bound(&p, subject->value_ns, lower_ns, err);
    mo_period_problem_clear(&p);
    return status;
}

mo_status mo_period_prove_sets(const mo_proof_subject *subject,
                               int64_t *lower_ns, mo_error *err)
{
    mo_period_problem p;
    mo_subset_bound b = { 0 };
    double work = fmin((double) subject->params[0], PROVE_WORK);
    bool is_short = false;
    mo_status status = open_problem(subject, &p, err);

    if (status == MO_OK)
        status = mo_subset_bound_init(&b, &p, err);
    if (status == MO_OK && subject->value_ns > 1 &&
        subject->value_ns < MO_PROOF_NEVER_NS)
        status = mo_subset_bound_test(&b, subject->value_ns - 1, work,
                                      subject->stop, &is_short, err);
    mo_stop_spend(subject->stop, (int64_t) b.work);
    if (is_short)
        *lower_ns = subject->value_ns;
    mo_subset_bound_clear(&b);
    mo_period_problem_clear(&p);
    return status;
}

/* The least period of all placements within memory, and with a limit of
 * requests in flight. */
static mo_status enumerate(const mo_proof_subject *subject,
                           const mo_period_problem *p, int in_flight,
                           int64_t *least_ns, mo_error *err)
{
    int64_t *ready_ns = calloc((size_t) p->x->n + 1, sizeof *ready_ns);
    mo_period_state s = { 0 };
    mo_status status =
        ready_ns ? mo_period_state_init(&s, p, err) : mo_fail_memory(err);
    bool more = status == MO_OK;

    *least_ns = MO_PROOF_NEVER_NS;
    if (more) {
        memset(s.device, 0, (size_t) p->x->n * sizeof *s.device);
        mo_period_state_set(&s, s.device);
    }
    for (; more; more = mo_period_state_next(&s)) {
        int64_t ns = mo_period_state_period_ns(&s);

        if (mo_stop_spend(subject->stop, (int64_t) UNITS_WORK * p->x->n)) {
            *least_ns = 0;
            break;
        }
        if (!mo_period_state_is_allowed(&s) ||
            mo_period_state_excess_bytes(&s) > 0)
            continue;
        if (in_flight > 0)
            ns = mo_max_i64(ns,
                            (mo_period_critical_path_ns(p, s.device, ready_ns) +
                             in_flight - 1) /
                                in_flight);
        *least_ns = mo_min_i64(*least_ns, ns);
    }
    mo_period_state_clear(&s);
    free(ready_ns);
    return status;
}

mo_status mo_period_prove_enumeration(const mo_proof_subject *subject,
                                      int64_t *lower_ns, mo_error *err)
{
    int64_t most = subject->params[0];
    mo_period_problem p;
    mo_status status = open_problem(subject, &p, err);

    /* With fewer in flight the period is not shorter. */
    if (status == MO_OK && mo_period_is_enumerable(&p) &&
        (most == 0 || (subject->in_flight > 0 && most >= subject->in_flight)))
        status =
            enumerate(subject, &p, (int) mo_min_i64(most, subject->in_flight),
                      lower_ns, err);
    mo_period_problem_clear(&p);
    return status;
}

/* Sets params to the unit of the prices, further ones, and the prices; returns
 * their number, 0: a price is too large. */
static size_t put_prices(const mo_period_bound_steps *b, int64_t work,
                         size_t before, int64_t *params)
{
    size_t n = (size_t) b->labelling.n_prices;

    params[0] = b->unit_ns;
    if (before > 1)
        params[1] = work;
    for (size_t i = 0; i < n; i++) {
        if (!(b->prices[i] < MAX_PRICE))
            return 0;
        params[before + i] = (int64_t) ldexp(fmax(b->prices[i], 0), PRICE_BITS);
    }
    return before + n;
}

typedef struct period_certifier {
    const mo_proof_scope *scope;
    mo_proof *proof;
    int64_t *params;
    int64_t target_ns;
} period_certifier;

/* Evaluates an entry for the target; it replaces one that proves less. */
static mo_status try_entry(period_certifier *c, mo_proof_kind kind,
                           mo_proof_rule *rule, size_t n_params, mo_error *err)
{
    _Atomic int64_t work = 0;
    const mo_stop stop = { .deadline_ns = INT64_MAX,
                           .work = &work,
                           .max_work = PROVE_WORK };
    const mo_allowed_devices domains = { c->scope->x, c->scope->regime, NULL };
    const mo_proof_subject subject = { .domains = &domains,
                                       .part = c->scope->x,
                                       .value_ns = c->target_ns,
                                       .params = c->params,
                                       .n_params = n_params,
                                       .in_flight = c->scope->in_flight,
                                       .stop = &stop };
    mo_proof_entry entry = { .kind = kind };
    mo_status status;

    if (c->proof->bound_ns >= c->target_ns)
        return MO_OK;
    status = rule(&subject, &entry.value_ns, err);
    if (status != MO_OK || entry.value_ns <= c->proof->bound_ns)
        return status;
    /* What holds for a larger claim holds for this one. */
    entry.value_ns = mo_min_i64(entry.value_ns, c->target_ns);
    c->proof->bound_ns = entry.value_ns;
    c->proof->n = c->proof->n_params = 0;
    return mo_proof_add(c->proof, entry, c->params, n_params, err);
}

static mo_status try_entries(const mo_period_bound_steps *b,
                             const mo_period_problem *problem,
                             period_certifier *c, mo_error *err)
{
    size_t n = b->prices ? put_prices(b, 0, 1, c->params) : 0;
    mo_status status = MO_OK;

    if (n > 0)
        status = try_entry(c, MO_PROOF_LAGRANGIAN, mo_period_prove_lagrangian,
                           n, err);
    if (status == MO_OK && b->packed_ns > 0)
        status =
            try_entry(c, MO_PROOF_PACKING, mo_period_prove_packing, 0, err);
    if (status == MO_OK && b->branching) {
        n = put_prices(b, (int64_t) b->branch_work, 2, c->params);
        if (n > 0)
            status =
                try_entry(c, MO_PROOF_BRANCH, mo_period_prove_branch, n, err);
    }
    if (status == MO_OK && b->subsets.work > 0) {
        c->params[0] = (int64_t) b->subsets.work;
        status = try_entry(c, MO_PROOF_SETS, mo_period_prove_sets, 1, err);
    }
    if (status == MO_OK && mo_period_is_enumerable(problem)) {
        c->params[0] = c->scope->in_flight;
        status = try_entry(c, MO_PROOF_ENUMERATE, mo_period_prove_enumeration,
                           1, err);
    }
    return status;
}

mo_status mo_period_certify(const mo_period_bound_steps *b,
                            const mo_period_problem *problem, int in_flight,
                            mo_proof **proof, mo_error *err)
{
    const mo_proof_scope scope = { problem->x, problem->regime,
                                   MO_OBJECTIVE_PERIOD, in_flight };
    period_certifier c = { .scope = &scope, .target_ns = b->lower_ns };
    mo_status status = MO_OK;

    *proof = NULL;
    if (b->lower_ns <= mo_period_least_ns(problem->x))
        return MO_OK;
    c.params = calloc((size_t) b->labelling.n_prices + 2, sizeof *c.params);
    status = c.params ? mo_proof_new(&c.proof, err) : mo_fail_memory(err);
    if (status == MO_OK) {
        c.proof->digest = mo_proof_digest(&scope);
        status = try_entries(b, problem, &c, err);
    }
    free(c.params);
    if (status == MO_OK && c.proof->bound_ns > 0)
        *proof = c.proof;
    else
        mo_proof_free(c.proof);
    return status;
}
