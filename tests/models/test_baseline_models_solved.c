/* SPDX-License-Identifier: Apache-2.0 */
/* tags: no-valgrind */
/* Tests of models/paper/paper.c, getf.c, sct.c and pesto.c: their optima, on
 * cases small enough for a hand calculation or enumeration. */
#include <math.h>

#include "schedule/heuristic/single_device.h"
#include "tests/support/exhaustive.h"
#include "tests/support/model_case.h"
#include "tests/support/random_problem.h"
#include "tests/support/scratch.h"
#include "tests/support/highs_solve.h"
#include "tests/support/suite.h"

/* Solvers are exact to a millionth. */
static void check_near(double found, double expected, int seed)
{
    ck_assert_msg(fabs(found - expected) <= 1e-6 * fmax(1, fabs(expected)),
                  "seed %d: %.6f ns, not %.6f", seed, found, expected);
}

/* The text of the paper can be read as sharing one channel only, its rows
 * share the port: one op on A is read on B and on C. */
static const struct {
    mo_congestion congestion;
    double optimum_ns;
} readings[] = {
    { MO_CONGESTION_PORT, 10000 },
    { MO_CONGESTION_CHANNEL, 6000 },
    { MO_CONGESTION_LINK, 6000 },
    { MO_CONGESTION_NONE, 6000 },
};

START_TEST(the_readings_of_congestion_differ)
{
    mo_regime regime = { .congestion = readings[_i].congestion };
    problem p = { 0 };
    model_case c;

    problem_make(&p,
                 "* t.A=1 t.B=1 t.C=1; "
                 "*>* c.A.B=4 c.A.C=4 c.B.A=4 c.B.C=4 c.C.A=4 c.C.B=4; "
                 "a pin=A; b pin=B; d pin=C; a>b; a>d",
                 "A; B; C; A-B gbps=8; A-C gbps=8; B-C gbps=8", NULL);
    model_case_open(&c, &p, &mo_formulation_paper, &regime, false);
    check_near(model_case_solve(&c), readings[_i].optimum_ns, _i);
    model_case_close(&c);
    problem_clear(&p);
}
END_TEST

/* One op, two readers, only one of which can be the favourite child: with 20
 * and 40 us to send, two thirds of it are the second. */
START_TEST(sct_shares_the_favour)
{
    mo_regime regime = { 0 };
    problem p = { 0 };
    model_case c;

    problem_make(&p,
                 "* t.A=200 t.B=200; a; b; d; a>b c.A.B=10 c.B.A=30; "
                 "a>d c.A.B=30 c.B.A=50",
                 "A; B; A-B gbps=8", NULL);
    model_case_open(&c, &p, &mo_formulation_sct, &regime, false);
    check_near(model_case_solve(&c), 400000 + 40000 / 3.0, 0);
    model_case_close(&c);
    problem_clear(&p);
}
END_TEST

static bool keeps_pins_and_groups(const mo_instance *x, const int *device)
{
    for (int i = 0; i < x->n; i++) {
        if (x->pin[i] != MO_FREE && x->pin[i] != device[i])
            return false;
        for (int j = 0; j < i; j++)
            if (x->group[i] != MO_FREE && x->group[i] == x->group[j] &&
                device[i] != device[j])
                return false;
    }
    return true;
}

/* The longest chain or the largest load of a placement. */
static int64_t getf_length(const mo_instance *x, const int *device)
{
    int64_t end[16] = { 0 }, load[16] = { 0 }, length = 0;

    for (int i = 0; i < x->n; i++) {
        for (int at = x->in_start[i]; at < x->in_start[i + 1]; at++) {
            int64_t ready = end[x->flows[x->in_flows[at]].from];

            end[i] = end[i] > ready ? end[i] : ready;
        }
        end[i] += mo_instance_p_ns(x, i, device[i]);
        load[device[i]] += mo_instance_p_ns(x, i, device[i]);
        length = length > end[i] ? length : end[i];
    }
    for (int k = 0; k < x->n_devices; k++)
        length = length > load[k] ? length : load[k];
    return length;
}

/* The minimum over the placements of the ops from op on. */
static int64_t getf_optimum(const mo_instance *x, int *device, int op)
{
    int64_t best = INT64_MAX;

    if (op == x->n)
        return keeps_pins_and_groups(x, device) ? getf_length(x, device) : best;
    for (device[op] = 0; device[op] < x->n_devices; device[op]++) {
        int64_t length = getf_optimum(x, device, op + 1);

        best = best < length ? best : length;
    }
    return best;
}

START_TEST(getf_finds_the_best_assignment)
{
    mo_regime regime = { .memory = MO_MEMORY_NONE };
    int device[16];
    random_problem text;
    problem p = { 0 };
    model_case c;

    random_problem_make(&text, (unsigned) _i);
    problem_make(&p, text.graph, text.cluster, NULL);
    model_case_open(&c, &p, &mo_formulation_getf, &regime, false);
    check_near(model_case_solve(&c), (double) getf_optimum(p.x, device, 0), _i);
    model_case_close(&c);
    problem_clear(&p);
    random_problem_clear(&text);
}
END_TEST

/* The device that is slowest alone, the last of equals. */
static int slowest(const mo_instance *x)
{
    int worst = 0;

    for (int k = 1; k < x->n_devices; k++)
        if (mo_single_device_ns(x, k) >= mo_single_device_ns(x, worst))
            worst = k;
    return worst;
}

static bool has_pin_to(const mo_instance *x, int device)
{
    for (int i = 0; i < x->n; i++)
        if (x->pin[i] == device)
            return true;
    return false;
}

/* With everything forbidden on the third device, which takes a second an op
 * there. */
static int64_t best_on_two(problem *p, const mo_regime *regime)
{
    const int64_t second_ns = 1000000000;
    int64_t best;
    int out = slowest(p->x);

    for (int i = 0; i < p->x->n && p->x->n_devices > 2; i++)
        p->x->p_ns[i * p->x->n_devices + out] = second_ns;
    best = exhaustive_optimum(p->x, regime);
    return best >= second_ns ? -1 : best;
}

START_TEST(pesto_is_exact_on_two_devices)
{
    mo_regime regime = { .congestion = (mo_congestion) (_i % 4) };
    random_problem text;
    problem p = { 0 };
    model_case c;
    double found;

    random_problem_make(&text, (unsigned) _i);
    problem_make(&p, text.graph, text.cluster, NULL);
    ck_assert_int_le(p.x->n_devices, 3);
    if (p.x->n_devices < 3 || !has_pin_to(p.x, slowest(p.x))) {
        model_case_open(&c, &p, &mo_formulation_pesto, &regime, false);
        found = model_case_solve(&c);
        model_case_close(&c);
        check_near(found, (double) best_on_two(&p, &regime), _i);
    }
    problem_clear(&p);
    random_problem_clear(&text);
}
END_TEST

SUITE(baseline_models_solved)
{
    solve_or_skip();
    tcase_add_unchecked_fixture(tests, scratch_enter, scratch_leave);
    EACH(the_readings_of_congestion_differ, COUNT(readings));
    TEST(sct_shares_the_favour);
    SOME(getf_finds_the_best_assignment, 100, 4);
    SOME(pesto_is_exact_on_two_devices, 200, 4);
}
