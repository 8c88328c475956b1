#include "coarsen/contract.h"

#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "coarsen/contraction.h"

static bool leaves(const mo_contraction *c, const mo_tensor *tensor)
{
    const int *group = c->how->group;

    for (int k = 0; k < tensor->n_edges; k++) {
        int to = group[c->g->edges[tensor->first_edge + k].to];
        if (to >= 0 && to != group[tensor->producer])
            return true;
    }
    return false;
}

/* Tensors are sorted by producer, and members are in topological order, so
 * outputs are numbered the same way whatever the groups are called. */
static void number_outputs(mo_contraction *c)
{
    for (int t = 0; t < c->g->n_tensors; t++) {
        int from = c->how->group[c->g->tensors[t].producer];

        c->leaving[t] = from >= 0 && leaves(c, &c->g->tensors[t])
                            ? c->n_leaving[from]++
                            : -1;
    }
}

static mo_status define_ops(mo_contraction *c, mo_error *err)
{
    for (int k = 0; k < c->how->n_groups; k++) {
        mo_status status = mo_contract_op(c, k, err);
        if (status != MO_OK)
            return status;
    }
    return MO_OK;
}

static mo_status prepare(mo_contraction *c, mo_error *err)
{
    mo_status status = mo_map_new(c->g->n_ops, c->how->n_groups, &c->groups,
                                  err);

    if (status != MO_OK)
        return status;
    if (c->g->n_ops > 0)
        memcpy(c->groups->coarse_of, c->how->group,
               (size_t) c->g->n_ops * sizeof *c->how->group);
    mo_map_gather(c->groups);
    c->leaving = calloc((size_t) c->g->n_tensors + 1, sizeof *c->leaving);
    c->n_leaving = calloc((size_t) c->how->n_groups + 1,
                          sizeof *c->n_leaving);
    if (!c->leaving || !c->n_leaving)
        return mo_fail_memory(err);
    number_outputs(c);
    return mo_builder_new(NULL, &c->builder, err);
}

static mo_status build(mo_contraction *c, mo_graph **coarse, mo_error *err)
{
    mo_status status = prepare(c, err);

    if (status == MO_OK)
        status = define_ops(c, err);
    if (status == MO_OK)
        status = mo_contract_times(c, err);
    if (status == MO_OK)
        status = mo_contract_edges(c, err);
    if (status == MO_OK && c->g->name) {
        const char *name;
        status = mo_builder_text(c->builder, c->g->name, strlen(c->g->name),
                                 &name, err);
        if (status == MO_OK)
            mo_builder_name(c->builder, name);
    }
    if (status == MO_OK)
        status = mo_builder_finish(c->builder, coarse, err);
    return status;
}

/* The coarse graph numbers its ops anew; a group is found by its name, which is
 * its first member's. */
static mo_status renumber(const mo_contraction *c, const mo_graph *coarse,
                          int *coarse_of_group, mo_error *err)
{
    mo_arena *arena = mo_arena_new();
    mo_intern *names = arena ? mo_intern_new(arena) : NULL;
    mo_status status = names ? MO_OK : mo_fail_memory(err);
    int number;

    for (int i = 0; i < coarse->n_ops && status == MO_OK; i++)
        status = mo_intern_put(names, coarse->ops[i].name,
                               strlen(coarse->ops[i].name), &number, err);
    for (int k = 0; k < c->how->n_groups && status == MO_OK; k++) {
        const char *name =
            c->g->ops[c->groups->member[c->groups->start[k]]].name;
        coarse_of_group[k] = mo_intern_find(names, name, strlen(name));
    }
    mo_intern_free(names);
    mo_arena_free(arena);
    return status;
}

static mo_status make_map(const mo_contraction *c, const mo_graph *coarse,
                          mo_map **map, mo_error *err)
{
    int *coarse_of = calloc((size_t) c->how->n_groups + 1, sizeof *coarse_of);
    mo_status status = coarse_of ? renumber(c, coarse, coarse_of, err)
                                 : mo_fail_memory(err);

    if (status == MO_OK)
        status = mo_map_new(c->g->n_ops, c->how->n_groups, map, err);
    if (status == MO_OK) {
        for (int i = 0; i < c->g->n_ops; i++) {
            int group = c->how->group[i];
            (*map)->coarse_of[i] = group < 0 ? group : coarse_of[group];
        }
        mo_map_gather(*map);
    }
    free(coarse_of);
    return status;
}

mo_status mo_contract(const mo_graph *g, const mo_grouping *grouping,
                      mo_graph **coarse, mo_map **map, mo_error *err)
{
    mo_contraction c = { .g = g, .how = grouping };
    mo_graph *made = NULL;
    mo_status status = build(&c, &made, err);

    if (status == MO_OK)
        status = make_map(&c, made, map, err);
    if (status == MO_OK)
        *coarse = made;
    else
        mo_graph_free(made);
    mo_builder_free(c.builder);
    mo_map_free(c.groups);
    free(c.leaving);
    free(c.n_leaving);
    return status;
}
