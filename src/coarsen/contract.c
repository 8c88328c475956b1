/* SPDX-License-Identifier: Apache-2.0 */
#include "coarsen/contract.h"

#include <stdlib.h>
#include <string.h>

#include "coarsen/contract_internal.h"

/* Members by group: a map to group numbers, which are not the coarse ids. */
static mo_status gather_members(mo_contraction *c, mo_error *err)
{
    mo_status status =
        mo_coarsen_map_new(c->g->n_ops, c->how->n_groups, &c->groups, err);

    if (status != MO_OK)
        return status;
    if (c->g->n_ops > 0)
        memcpy(c->groups->coarse_of, c->how->group,
               (size_t) c->g->n_ops * sizeof *c->how->group);
    mo_coarsen_map_gather(c->groups);
    return MO_OK;
}

static mo_status prepare(mo_contraction *c, mo_error *err)
{
    mo_status status = gather_members(c, err);

    if (status == MO_OK)
        status = mo_contract_find_outputs(c, err);
    if (status == MO_OK)
        status = mo_out_memory(&c->text, err);
    if (status == MO_OK)
        status = mo_builder_new(NULL, &c->builder, err);
    return status;
}

static mo_status keep_name(mo_contraction *c, mo_error *err)
{
    const char *name;
    mo_status status = mo_contract_copy_text(c, c->g->name, &name, err);

    if (status == MO_OK)
        mo_builder_name(c->builder, name);
    return status;
}

static mo_status build(mo_contraction *c, mo_error *err)
{
    mo_status status = prepare(c, err);

    for (int k = 0; k < c->how->n_groups && status == MO_OK; k++)
        status = mo_contract_op(c, k, err);
    if (status == MO_OK)
        status = mo_contract_times(c, err);
    if (status == MO_OK)
        status = mo_contract_edges(c, err);
    if (status == MO_OK)
        status = keep_name(c, err);
    return status;
}

/* The coarse graph numbers its ops anew. */
static mo_status finish(mo_contraction *c, mo_graph **coarse,
                        mo_coarsen_map **map, mo_error *err)
{
    const int *group = c->how->group;
    int *ids = calloc((size_t) c->how->n_groups + 1, sizeof *ids);
    mo_coarsen_map *made = NULL;
    mo_status status =
        ids ? mo_coarsen_map_new(c->g->n_ops, c->how->n_groups, &made, err)
            : mo_fail_memory(err);

    if (status == MO_OK) {
        mo_builder_map_slots(c->builder, ids);
        status = mo_builder_finish(c->builder, coarse, err);
    }
    if (status == MO_OK) {
        for (int i = 0; i < c->g->n_ops; i++)
            made->coarse_of[i] = group[i] < 0 ? group[i] : ids[group[i]];
        mo_coarsen_map_gather(made);
        *map = made;
    } else {
        mo_coarsen_map_free(made);
    }
    free(ids);
    return status;
}

static void clear(mo_contraction *c)
{
    mo_builder_free(c->builder);
    mo_out_abandon(c->text);
    mo_coarsen_map_free(c->groups);
    free(c->output);
    free(c->outputs);
    free(c->output_start);
}

mo_status mo_contract(const mo_graph *g, const mo_grouping *grouping,
                      mo_graph **coarse, mo_coarsen_map **map, mo_error *err)
{
    mo_contraction c = { .g = g, .how = grouping };
    mo_status status = build(&c, err);

    if (status == MO_OK)
        status = finish(&c, coarse, map, err);
    clear(&c);
    return status;
}
