/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Differential fuzzer of answers: any columns for any instance give a
 * complaint, or a verdict that the reference validator shares; a valid schedule
 * is no shorter than its lower bound.
 *
 * The columns are those of a simulated schedule with alterations: values,
 * names, columns that are missing, repeated or added.
 */
#include <assert.h>
#include <math.h>
#include <stdio.h>

#include "schedule/sim/sim.h"
#include "solvers/answer/evaluation.h"
#include "tests/fuzz/fuzz_instance.h"
#include "tests/support/reference_validate.h"

enum { MAX_COLUMNS = 128, MAX_EDITS = 8 };

typedef struct columns {
    mo_solution solution;
    mo_solution_value values[MAX_COLUMNS];
    char names[MAX_COLUMNS][MO_VARIABLE_NAME];
} columns;

static void add_column(columns *c, double value, const char *format, int a,
                       int b)
{
    int i = c->solution.n;

    if (i == MAX_COLUMNS)
        return;
    if (b >= 0)
        snprintf(c->names[i], sizeof c->names[i], "%s_%d_%d", format, a, b);
    else if (a >= 0)
        snprintf(c->names[i], sizeof c->names[i], "%s_%d", format, a);
    else
        snprintf(c->names[i], sizeof c->names[i], "%s", format);
    c->values[i] = (mo_solution_value){ c->names[i], value, i + 1 };
    c->solution.n++;
}

static void add_schedule(columns *c, const mo_instance *x, const mo_schedule *s,
                         int64_t unit_ns)
{
    for (int i = 0; i < x->n; i++) {
        add_column(c, 1, "x", i, s->device[i]);
        add_column(c, (double) s->start_ns[i] / (double) unit_ns, "s", i, -1);
    }
    if (s->regime.tensors == MO_TENSORS_PER_EDGE)
        for (int t = 0; t < s->n_transfers; t++)
            add_column(c, (double) s->transfers[t].start_ns / (double) unit_ns,
                       "t", s->transfers[t].item, -1);
    add_column(c, (double) s->makespan_ns / (double) unit_ns, "w", -1, -1);
}

static double draw_value(fuzz_input *in, double before)
{
    static const double odd[] = { 0,    1,        -1,        0.5,
                                  1e-6, 0.999999, 1e18,      1e30,
                                  NAN,  INFINITY, -INFINITY, -0.0 };
    int kind = fuzz_byte(in);
    double value;

    if (kind < 12)
        return odd[kind];
    if (kind < 128)
        return before + (double) (int8_t) fuzz_byte(in) / 4;
    if (kind < 160)
        return before * (double) fuzz_byte(in) / 16;
    fuzz_bytes(in, &value, sizeof value);
    return isnan(value) ? 0 : value;
}

static void edit(fuzz_input *in, columns *c)
{
    static const char letters[] = "xsctdyzohmgfawkvbqI";
    int kind = fuzz_below(in, 5), i = fuzz_below(in, MAX_COLUMNS);
    char letter[2] = { letters[fuzz_below(in, sizeof letters - 1)], '\0' };

    i %= c->solution.n > 0 ? c->solution.n : 1;
    if (kind == 0 && i < c->solution.n)
        c->values[i].value = draw_value(in, c->values[i].value);
    else if (kind == 1 && c->solution.n > 0)
        c->values[i] = c->values[--c->solution.n];
    else if (kind == 2)
        add_column(c, draw_value(in, 1), letter, (int8_t) fuzz_byte(in),
                   (int8_t) fuzz_byte(in));
    else if (kind == 3 && i < c->solution.n && c->values[i].name[0] == 'x')
        c->names[i][3] = (char) ('0' + fuzz_below(in, FUZZ_DEVICES));
    else if (kind == 4)
        fuzz_bytes(in, c->names[i], 1 + (size_t) fuzz_below(in, 8));
    /* No reader makes a value that is not a number, nor an empty name. */
    for (i = 0; i < c->solution.n; i++) {
        if (isnan(c->values[i].value))
            c->values[i].value = 0;
        if (c->values[i].name[0] == '\0')
            add_column(c, 0, "x", 0, 0), c->values[i].name = "x_0_0";
    }
}

static void check_evaluation(const mo_instance *x, const mo_regime *regime,
                             const columns *c, const mo_provenance *origin)
{
    mo_answer_evaluation evaluation;
    mo_error err = { 0 };

    assert(mo_answer_evaluate_solution(&c->solution, origin, x, regime,
                                       MO_ANSWER_TOLERANCE, &evaluation,
                                       &err) == MO_OK);
    assert(mo_answer_evaluation_bound(x, &evaluation, &err) == MO_OK);
    for (int i = 0; i < mo_answer_evaluation_count(&evaluation); i++)
        assert(mo_answer_evaluation_violation(&evaluation, i)[0] != '\0');
    if (evaluation.schedule && evaluation.verdict)
        assert((evaluation.verdict->n == 0) ==
               !broken_rule(x, evaluation.schedule));
    if (mo_answer_evaluation_valid(&evaluation)) {
        assert(evaluation.schedule &&
               evaluation.schedule->makespan_ns >= evaluation.lower.bound_ns);
        assert(evaluation.schedule->regime.memory == regime->memory);
    }
    mo_answer_evaluation_clear(&evaluation);
}

static mo_schedule *simulate(fuzz_input *in, const mo_instance *x,
                             const mo_regime *regime)
{
    int device[FUZZ_OPS], rank[FUZZ_OPS];
    mo_sim_plan plan = { .device = device, .rank = rank };
    mo_schedule *s = NULL;
    mo_sim *sim = NULL;
    mo_error err = { 0 };

    for (int i = 0; i < x->n; i++) {
        device[i] =
            x->pin[i] != MO_FREE ? x->pin[i] : fuzz_below(in, x->n_devices);
        rank[i] = i;
    }
    assert(mo_sim_new(x, regime, &sim, &err) == MO_OK);
    assert(mo_sim_schedule(sim, &plan, &s, &err) == MO_OK);
    mo_sim_free(sim);
    return s;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int64_t units[] = { 1, 1000, 1000000 };
    static columns c;
    fuzz_input in = fuzz_input_of(data, size);
    mo_provenance origin = { .has_options = true, .formulation = "compact" };
    fuzz_instance made;
    mo_schedule *s;

    if (!fuzz_instance_make(&in, &made))
        return 0;
    origin.regime = fuzz_regime(&in);
    origin.unit_ns = units[fuzz_below(&in, 3)];
    s = simulate(&in, made.x, &origin.regime);
    c.solution = (mo_solution){ .layout = "miplib", .values = c.values };
    add_schedule(&c, made.x, s, origin.unit_ns);
    for (int i = 0; i < MAX_EDITS && fuzz_left(&in) > 0; i++)
        edit(&in, &c);
    check_evaluation(made.x, &origin.regime, &c, &origin);
    mo_schedule_free(s);
    fuzz_instance_clear(&made);
    return 0;
}
