/* SPDX-License-Identifier: Apache-2.0 */
#include "report/graph_info.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "report/format_units.h"

/* A column with a fallback; sorted, the longest first. */
typedef struct fallback {
    double us;
    int column;
} fallback;

static int compare_fallbacks(const void *a, const void *b)
{
    double x = ((const fallback *) a)->us, y = ((const fallback *) b)->us;

    return (x < y) - (x > y);
}

static int collect_fallbacks(const mo_graph *g, fallback *fallbacks)
{
    int n = 0;

    for (int column = 0; column < g->n_time_columns; column++)
        if (!isnan(g->time_columns[column].fallback_us))
            fallbacks[n++] =
                (fallback){ g->time_columns[column].fallback_us, column };
    qsort(fallbacks, (size_t) n, sizeof *fallbacks, compare_fallbacks);
    return n;
}

/*
 * Returns the longest of op's own times and of the fallbacks that it does not
 * replace. Visiting every column would take ops times columns; here at most as
 * many fallbacks are skipped as op has times. measured[] has for each column
 * the last op with a time there.
 */
static double longest_time(const mo_graph *g, int op, const fallback *fallbacks,
                           int n_fallbacks, int *measured)
{
    double longest = MO_UNKNOWN;
    int i = 0;

    for (int m = g->time_start[op]; m < g->time_start[op + 1]; m++) {
        measured[g->times[m].column] = op;
        if (g->times[m].us > longest)
            longest = g->times[m].us;
    }
    while (i < n_fallbacks && measured[fallbacks[i].column] == op)
        i++;
    return i < n_fallbacks && fallbacks[i].us > longest ? fallbacks[i].us
                                                        : longest;
}

static mo_status weigh_by_time(const mo_graph *g, double *weights,
                               mo_error *err)
{
    size_t room = (size_t) g->n_time_columns + 1;
    fallback *fallbacks = calloc(room, sizeof *fallbacks);
    int *measured = calloc(room, sizeof *measured);
    mo_status status = MO_OK;

    if (fallbacks && measured) {
        int n = collect_fallbacks(g, fallbacks);

        for (int column = 0; column < g->n_time_columns; column++)
            measured[column] = -1;
        for (int op = 0; op < g->n_ops; op++)
            weights[op] = longest_time(g, op, fallbacks, n, measured);
    } else {
        status = mo_fail_memory(err);
    }
    free(measured);
    free(fallbacks);
    return status;
}

static mo_status weigh_by_memory(const mo_graph *g, double *weights,
                                 mo_error *err)
{
    (void) err;
    for (int op = 0; op < g->n_ops; op++)
        weights[op] = (double) g->ops[op].memory_bytes;
    return MO_OK;
}

static const mo_report_op_metric by_flops = { "flops", "flops",
                                              mo_format_flops };

/* Metrics for graphs without flops; the better one first. */
static const struct {
    mo_report_op_metric by;
    /* Computes the weight of each op; negative: unknown. */
    mo_status (*weigh)(const mo_graph *g, double *weights, mo_error *err);
} others[] = {
    { { "time_us", "measured time on the slowest device", mo_format_us },
      weigh_by_time },
    { { "memory_bytes", "memory", mo_format_bytes }, weigh_by_memory },
};

static mo_status try_others(const mo_graph *g, mo_report_top_ops *h,
                            mo_error *err)
{
    double *weights = calloc((size_t) g->n_ops + 1, sizeof *weights);
    mo_status status = weights ? MO_OK : mo_fail_memory(err);

    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (status != MO_OK || h->by)
            break;
        status = others[i].weigh(g, weights, err);
        if (status == MO_OK) {
            /* Finds none if all known weights are zero. */
            for (int op = 0; op < g->n_ops; op++)
                if (weights[op] >= 0 &&
                    (h->n < MO_REPORT_TOP_OPS_MAX ||
                     weights[op] > h->weights[MO_REPORT_TOP_OPS_MAX - 1])) {
                    /* Inserts op in order; the last may drop out. */
                    double weight = weights[op];
                    int at = h->n < MO_REPORT_TOP_OPS_MAX
                                 ? h->n++
                                 : MO_REPORT_TOP_OPS_MAX - 1;

                    for (; at > 0 && h->weights[at - 1] < weight; at--) {
                        h->ops[at] = h->ops[at - 1];
                        h->weights[at] = h->weights[at - 1];
                    }
                    h->ops[at] = op;
                    h->weights[at] = weight;
                }
            if (h->n > 0 && h->weights[0] > 0)
                h->by = &others[i].by;
            else
                h->n = 0;
        }
    }
    free(weights);
    return status;
}

mo_status mo_report_top_ops_find(const mo_graph *g, const mo_summary *summary,
                                 mo_report_top_ops *heaviest, mo_error *err)
{
    heaviest->by = NULL;
    heaviest->n = 0;
    if (summary->flops > 0 || summary->flops == MO_UNKNOWN) {
        heaviest->by = &by_flops;
        for (int i = 0;
             i < summary->n_heaviest && heaviest->n < MO_REPORT_TOP_OPS_MAX;
             i++) {
            double weight = g->ops[summary->heaviest[i]].flops;

            if (weight < 0)
                break;
            heaviest->ops[heaviest->n] = summary->heaviest[i];
            heaviest->weights[heaviest->n++] = weight;
        }
    }
    return heaviest->by ? MO_OK : try_others(g, heaviest, err);
}
