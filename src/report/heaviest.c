#include "report/heaviest.h"

#include <stddef.h>

#include "report/unit.h"

static double flops_of(const mo_graph *g, int op)
{
    return g->ops[op].flops;
}

static double time_of(const mo_graph *g, int op)
{
    double longest = MO_UNKNOWN;

    for (int column = 0; column < g->n_time_columns; column++) {
        double us = mo_graph_time_us(g, op, column);
        if (us > longest) /* never true of NAN: not measured */
            longest = us;
    }
    return longest;
}

static double memory_of(const mo_graph *g, int op)
{
    return (double) g->ops[op].memory_bytes;
}

static const mo_weighing by_flops = { "flops", "flops", flops_of,
                                      mo_unit_flops };

/* Where there are no flops; the better one first. */
static const mo_weighing others[] = {
    { "time_us", "measured time on the slowest device", time_of, mo_unit_us },
    { "memory_bytes", "memory", memory_of, mo_unit_bytes },
};

static void take_from_summary(const mo_graph *g, const mo_summary *summary,
                              mo_heaviest *h)
{
    h->by = &by_flops;
    for (int i = 0; i < summary->n_heaviest && h->n < MO_HEAVIEST_MAX; i++) {
        double weight = flops_of(g, summary->heaviest[i]);

        if (weight < 0)
            break;
        h->ops[h->n] = summary->heaviest[i];
        h->weights[h->n++] = weight;
    }
}

/* Puts op where it belongs among those found so far; the last may drop out. */
static void insert(mo_heaviest *h, int op, double weight)
{
    int at = h->n < MO_HEAVIEST_MAX ? h->n++ : MO_HEAVIEST_MAX - 1;

    for (; at > 0 && h->weights[at - 1] < weight; at--) {
        h->ops[at] = h->ops[at - 1];
        h->weights[at] = h->weights[at - 1];
    }
    h->ops[at] = op;
    h->weights[at] = weight;
}

/* Finds none when all that is known is zero: that would weigh nothing. */
static void weigh_all(const mo_graph *g, const mo_weighing *by, mo_heaviest *h)
{
    for (int op = 0; op < g->n_ops; op++) {
        double weight = by->weigh(g, op);

        if (weight >= 0 && (h->n < MO_HEAVIEST_MAX ||
                            weight > h->weights[MO_HEAVIEST_MAX - 1]))
            insert(h, op, weight);
    }
    if (h->n > 0 && h->weights[0] > 0)
        h->by = by;
    else
        h->n = 0;
}

void mo_heaviest_find(const mo_graph *g, const mo_summary *summary,
                      mo_heaviest *heaviest)
{
    heaviest->by = NULL;
    heaviest->n = 0;
    if (summary->flops > 0 || summary->flops == MO_UNKNOWN)
        take_from_summary(g, summary, heaviest);
    for (size_t i = 0; i < sizeof others / sizeof *others && !heaviest->by; i++)
        weigh_all(g, &others[i], heaviest);
}
