/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of schedule/validate/validate.h: the validator against the reference
 * (tests/support/reference_validate.h), on randomly mutated schedules. */
#include "schedule/validate/validate.h"

#include <stdlib.h>
#include <string.h>

#include "schedule/heuristic/heft.h"
#include "schedule/heuristic/upper_bound.h"
#include "tests/support/dense_problem.h"
#include "tests/support/graphs.h"
#include "tests/support/problem.h"
#include "tests/support/random_problem.h"
#include "tests/support/suite.h"
#include "tests/support/reference_validate.h"
#include "tests/schedule/validate_case.h"

static int64_t nudge(test_random *random)
{
    static const int64_t steps[] = { 1, 7, 500, 1000, 2000, 5000, 20000 };
    int64_t step = steps[random_below(random, COUNT(steps))];

    return random_below(random, 2) ? step : -step;
}

static int64_t right_makespan(const mo_instance *x, const mo_schedule *s)
{
    int64_t last_ns = 0;

    for (int i = 0; i < x->n; i++) {
        int64_t end_ns = s->start_ns[i] + mo_instance_p_ns(x, i, s->device[i]);

        last_ns = end_ns > last_ns ? end_ns : last_ns;
    }
    return last_ns;
}

static void mutate_transfer(const mo_instance *x, mo_schedule *s,
                            test_random *random)
{
    int at = random_below(random, s->n_transfers);
    mo_transfer *t = &s->transfers[at];
    int64_t step = nudge(random);

    switch (random_below(random, 6)) {
    case 0:
        drop_transfer(s, at);
        break;
    case 1:
        double_transfer(s, at);
        break;
    case 2:
        t->from = random_below(random, x->n_devices);
        break;
    case 3:
        t->end_ns += step;
        break;
    default:
        t->start_ns += step;
        t->end_ns += step;
        break;
    }
}

/* Some mutations leave the schedule valid. */
static void mutate(const mo_instance *x, mo_schedule *s, test_random *random)
{
    int op = random_below(random, x->n), other = random_below(random, x->n);
    int kind = random_below(random, 8);
    int64_t kept_ns = s->start_ns[op];

    if (kind < 3 && s->n_transfers > 0) {
        mutate_transfer(x, s, random);
    } else if (kind < 5) {
        s->start_ns[op] += nudge(random);
    } else if (kind == 5) {
        s->device[op] = random_below(random, x->n_devices);
    } else if (kind == 6) {
        s->start_ns[op] = s->start_ns[other];
        s->start_ns[other] = kept_ns;
    } else {
        for (int i = 0; i < x->n; i++)
            s->start_ns[i] += s->start_ns[i] >= kept_ns ? 3000 : 0;
        for (int t = 0; t < s->n_transfers; t++)
            if (s->transfers[t].start_ns >= kept_ns) {
                s->transfers[t].start_ns += 3000;
                s->transfers[t].end_ns += 3000;
            }
    }
    s->makespan_ns = right_makespan(x, s);
    if (random_below(random, 10) == 0)
        s->makespan_ns += nudge(random);
}

/* Agrees with the definition, and on memory to the byte. */
static void check_against_definition(const problem *p, const mo_schedule *s,
                                     unsigned seed)
{
    mo_verdict *v = verdict_on(p, s);
    const char *broken = broken_rule(p->x, s);
    int64_t *peak = calloc((size_t) p->x->n_devices + 1, sizeof *peak);

    ck_assert_msg((v->n == 0) == (broken == NULL),
                  "seed %u: definition: %s; judge: %s", seed,
                  broken ? broken : "valid",
                  v->n ? v->violations[0].text : "valid");
    ck_assert_ptr_nonnull(peak);
    if (!broken) {
        peak_by_definition(p->x, s, peak);
        for (int k = 0; k < p->x->n_devices; k++)
            ck_assert_int_eq(peak[k], v->peak_bytes[k]);
    }
    free(peak);
    mo_verdict_free(v);
}

static mo_schedule *copy_of(const mo_instance *x, const mo_schedule *s)
{
    mo_schedule *copy = NULL;

    MUST(mo_schedule_new(x, &s->regime, s->device, &copy, &err));
    memcpy(copy->start_ns, s->start_ns, (size_t) s->n * sizeof *s->start_ns);
    for (int t = 0; t < s->n_transfers; t++)
        copy->transfers[t] = s->transfers[t];
    copy->makespan_ns = s->makespan_ns;
    return copy;
}

static void check_mutations(const problem *p, const mo_schedule *s,
                            unsigned seed, int n)
{
    test_random random = { seed + 1 };

    check_against_definition(p, s, seed);
    for (int i = 0; i < n; i++) {
        mo_schedule *copy = copy_of(p->x, s);

        for (int again = 0; again <= i % 3; again++)
            mutate(p->x, copy, &random);
        check_against_definition(p, copy, seed);
        mo_schedule_free(copy);
    }
}

static void check_regime(const problem *p, int number, unsigned seed)
{
    mo_regime regime = regime_of(number);
    mo_schedule *s = NULL;
    int64_t bound_ns;

    MUST(mo_bound_upper(p->x, &regime, &s, &bound_ns, &err));
    if (s)
        check_mutations(p, s, seed, 20);
    mo_schedule_free(s);
}

START_TEST(small_ones_are_judged_as_by_definition)
{
    random_problem_check((unsigned) _i, check_regime);
}
END_TEST

START_TEST(crowds_are_judged_as_by_definition)
{
    problem p = { 0 };

    crowd_make(&p, (unsigned) _i);
    for (int number = 0; number < N_REGIMES; number++) {
        mo_regime regime = regime_of(number);
        mo_schedule *s = NULL;

        MUST(mo_heft(p.x, &regime, NULL, &s, &err));
        if (s)
            check_mutations(&p, s, (unsigned) _i, 10);
        mo_schedule_free(s);
    }
    problem_clear(&p);
}
END_TEST

SUITE(validate_random)
{
    SOME(small_ones_are_judged_as_by_definition, 60, 6);
    SOME(crowds_are_judged_as_by_definition, 20, 2);
}
