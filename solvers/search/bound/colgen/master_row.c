#include "solvers/search/bound/colgen/master_row.h"

mo_timed_good mo_timed_good_stretch(int resource, int first, int last)
{
    return (mo_timed_good){ .kind = MO_TIMED_STRETCH,
                            .resource = resource,
                            .first = first,
                            .last = last };
}

mo_timed_good mo_timed_good_gate(int node, int device, int64_t tick)
{
    return (mo_timed_good){
        .kind = MO_TIMED_GATE, .node = node, .device = device, .tick = tick
    };
}

mo_timed_good mo_timed_good_count(const mo_timed_limit *limit)
{
    return (mo_timed_good){ .kind = MO_TIMED_COUNT,
                            .node = limit->node,
                            .device = limit->device,
                            .elsewhere = limit->elsewhere,
                            .most = limit->most };
}

bool mo_timed_good_equal(const mo_timed_good *a, const mo_timed_good *b)
{
    return a->kind == b->kind && a->resource == b->resource &&
           a->first == b->first && a->last == b->last && a->node == b->node &&
           a->device == b->device && a->tick == b->tick &&
           a->elsewhere == b->elsewhere && a->most == b->most;
}

double mo_timed_good_count_part(const mo_timed_good *good, int device)
{
    return (good->device == device) != good->elsewhere ? 1.0 / good->most : 0;
}

static double stretch_part(const mo_timed_case *c, const mo_timed_good *good,
                           const mo_timed_pattern *p)
{
    int64_t begin = good->first * c->cell, end = good->last * c->cell;
    double sum = 0;

    for (int i = 0; i < p->n_jobs; i++) {
        const mo_timed_job *job = &p->jobs[i];
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

static double gate_part(const mo_timed_case *c, const mo_timed_good *good,
                        const mo_timed_pattern *p)
{
    int at;

    if (p->class == MO_FREE)
        return p->to == good->device && p->start[0] >= good->tick;
    if (p->class != c->tree->nodes[good->node].class)
        return 0;
    at = good->node - c->tree->root[p->class];
    return p->device[at] == good->device && p->start[at] < good->tick;
}

double mo_timed_good_part(const mo_timed_case *c, const mo_timed_good *good,
                          const mo_timed_pattern *p)
{
    int class = c->tree->nodes[good->node].class;

    switch (good->kind) {
    case MO_TIMED_STRETCH:
        return stretch_part(c, good, p);
    case MO_TIMED_GATE:
        return gate_part(c, good, p);
    case MO_TIMED_COUNT:
        break;
    }
    if (p->class != class)
        return 0;
    return mo_timed_equals(c, good->node) *
           mo_timed_good_count_part(
               good, p->device[good->node - c->tree->root[class]]);
}
