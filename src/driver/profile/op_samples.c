/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/profile/op_samples.h"

#include <math.h>
#include <stdlib.h>

void mo_profiler_samples_clear(mo_profiler_samples *s)
{
    free(s->start);
    free(s->n);
    free(s->us);
    free(s->op_ns);
    *s = (mo_profiler_samples){ 0 };
}

/* Items of replicated work have no op and no row. */
static int signature_of(const mo_profiler_samples *s, const mo_exec_plan *plan,
                        int item)
{
    int op = plan->items[item].op;

    return op == MO_PLAN_NONE ? MO_PLAN_NONE : s->rows->signature_of[op];
}

mo_status mo_profiler_samples_begin(const mo_profiler_table *rows,
                                    const mo_exec_plan *plan, int rounds,
                                    mo_profiler_samples *s, mo_error *err)
{
    size_t n = (size_t) rows->n_signatures;

    s->rows = rows;
    s->rounds = rounds;
    s->start = calloc(n + 1, sizeof *s->start);
    s->n = calloc(n + 1, sizeof *s->n);
    s->us = calloc((size_t) plan->n_items * (size_t) rounds + 1, sizeof *s->us);
    s->op_ns = calloc((size_t) rows->graph->n_ops * (size_t) rounds + 1,
                      sizeof *s->op_ns);
    if (!s->start || !s->n || !s->us || !s->op_ns)
        return mo_fail_memory(err);
    for (int i = 0; i < plan->n_items; i++) {
        int signature = signature_of(s, plan, i);

        if (signature != MO_PLAN_NONE)
            s->start[signature + 1] += rounds;
    }
    for (size_t i = 0; i < n; i++)
        s->start[i + 1] += s->start[i];
    return MO_OK;
}

static int64_t *times_of(const mo_profiler_samples *s, int op)
{
    return s->op_ns + (size_t) op * (size_t) s->rounds;
}

void mo_profiler_samples_add(mo_profiler_samples *s, const mo_exec_plan *plan,
                             const int64_t *call_ns)
{
    int round = s->n_rounds++;

    for (int c = 0; c < plan->n_calls; c++) {
        int op = plan->items[plan->calls[c].timed_as].op;

        if (op != MO_PLAN_NONE)
            times_of(s, op)[round] += call_ns[c];
    }
    for (int i = 0; i < plan->n_items; i++) {
        int signature = signature_of(s, plan, i);

        if (signature != MO_PLAN_NONE)
            s->us[s->start[signature] + s->n[signature]++] =
                (double) times_of(s, plan->items[i].op)[round] / 1000;
    }
}

/* The clock has nanosecond resolution. */
static double to_ns(double us)
{
    return round(us * 1000) / 1000;
}

static int compare_i64(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static int compare_ns(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static double median_us(int64_t *ns, int n)
{
    int64_t twice;

    qsort(ns, (size_t) n, sizeof *ns, compare_ns);
    twice = ns[(n - 1) / 2] + ns[n / 2];
    return (double) twice / 2000;
}

double mo_profiler_samples_total_us(mo_profiler_samples *samples,
                                    const mo_exec_plan *plan)
{
    double us = 0;

    for (int i = 0; i < plan->n_items && samples->n_rounds > 0; i++)
        if (signature_of(samples, plan, i) != MO_PLAN_NONE)
            us += median_us(times_of(samples, plan->items[i].op),
                            samples->n_rounds);
    return us;
}

/* Running mean over ops; count is their number. */
static void add_op(mo_profiler_stat *m, double us)
{
    m->count++;
    m->median_us += (us - m->median_us) / m->count;
}

void mo_profiler_samples_summarize(mo_profiler_samples *s,
                                   const mo_exec_plan *plan, int runs,
                                   double slowdown, mo_profiler_stat *measured)
{
    for (int i = 0; i < s->rows->n_signatures; i++)
        measured[i] = (mo_profiler_stat){ 0 };
    for (int i = 0; i < plan->n_items && s->n_rounds > 0; i++) {
        int signature = signature_of(s, plan, i);

        if (signature != MO_PLAN_NONE)
            add_op(&measured[signature],
                   median_us(times_of(s, plan->items[i].op), s->n_rounds));
    }
    for (int i = 0; i < s->rows->n_signatures; i++) {
        double *us = s->us + s->start[i];
        int n = s->n[i];

        if (n == 0)
            continue;
        qsort(us, (size_t) n, sizeof *us, compare_i64);
        measured[i].median_us = to_ns(slowdown * measured[i].median_us);
        measured[i].spread_us =
            to_ns(slowdown * (us[(3 * n - 1) / 4] - us[n / 4]));
        measured[i].count = runs;
    }
}
