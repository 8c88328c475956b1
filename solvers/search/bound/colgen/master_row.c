/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/bound/colgen/master_row.h"

mo_cg_row mo_cg_row_capacity(int resource, int first, int last)
{
    return (mo_cg_row){ .kind = MO_CG_CAPACITY,
                        .resource = resource,
                        .first = first,
                        .last = last };
}

mo_cg_row mo_cg_row_release(int node, int device, int64_t tick)
{
    return (mo_cg_row){
        .kind = MO_CG_RELEASE, .node = node, .device = device, .tick = tick
    };
}

mo_cg_row mo_cg_row_cardinality(const mo_cg_cardinality *limit)
{
    return (mo_cg_row){ .kind = MO_CG_CARDINALITY,
                        .node = limit->node,
                        .device = limit->device,
                        .elsewhere = limit->elsewhere,
                        .most = limit->most };
}

bool mo_cg_row_equal(const mo_cg_row *a, const mo_cg_row *b)
{
    return a->kind == b->kind && a->resource == b->resource &&
           a->first == b->first && a->last == b->last && a->node == b->node &&
           a->device == b->device && a->tick == b->tick &&
           a->elsewhere == b->elsewhere && a->most == b->most;
}

double mo_cg_row_cardinality_coefficient(const mo_cg_row *good, int device)
{
    return (good->device == device) != good->elsewhere ? 1.0 / good->most : 0;
}

static double stretch_part(const mo_cg_problem *c, const mo_cg_row *good,
                           const mo_cg_column *p)
{
    int64_t begin = good->first * c->cell, end = good->last * c->cell;
    double sum = 0;

    for (int i = 0; i < p->n_jobs; i++) {
        const mo_cg_job *job = &p->jobs[i];
        int64_t from = job->start > begin ? job->start : begin;
        int64_t to = job->start + job->length;

        to = to < end ? to : end;
        if (job->resource == good->resource && from < to)
            sum += (double) job->weight * (double) (to - from);
    }
    if (p->class != MO_FREE)
        sum *= c->fork->classes[p->class].count;
    return sum / (double) (end - begin);
}

static double gate_part(const mo_cg_problem *c, const mo_cg_row *good,
                        const mo_cg_column *p)
{
    int at;

    if (p->class == MO_FREE)
        return p->to == good->device && p->start[0] >= good->tick;
    if (p->class != c->tree->nodes[good->node].class)
        return 0;
    at = good->node - c->tree->root[p->class];
    return p->device[at] == good->device && p->start[at] < good->tick;
}

double mo_cg_row_coefficient(const mo_cg_problem *c, const mo_cg_row *good,
                             const mo_cg_column *p)
{
    int class = c->tree->nodes[good->node].class;

    switch (good->kind) {
    case MO_CG_CAPACITY:
        return stretch_part(c, good, p);
    case MO_CG_RELEASE:
        return gate_part(c, good, p);
    case MO_CG_CARDINALITY:
        break;
    }
    if (p->class != class)
        return 0;
    return mo_cg_multiplicity(c, good->node) *
           mo_cg_row_cardinality_coefficient(
               good, p->device[good->node - c->tree->root[class]]);
}
