/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measured times of a contracted group from those of its members, by the rule
 * for fused ops of the caller.
 */
#include "coarsen/contract_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static mo_status copy_time_columns(mo_contraction *c, mo_error *err)
{
    int column;

    for (int k = 0; k < c->g->n_time_columns; k++) {
        const mo_measure_column *from = &c->g->time_columns[k];
        mo_status status = mo_builder_time_column(
            c->builder, from->key, strlen(from->key), &column, err);

        if (status != MO_OK)
            return status;
        if (!isnan(from->fallback_us))
            mo_builder_time_fallback(c->builder, column, from->fallback_us);
    }
    return MO_OK;
}

static mo_status copy_times(mo_contraction *c, int group, int op, mo_error *err)
{
    for (int k = c->g->time_start[op]; k < c->g->time_start[op + 1]; k++) {
        mo_status status = mo_builder_time(
            c->builder, group, c->g->times[k].column, c->g->times[k].us, err);
        if (status != MO_OK)
            return status;
    }
    return MO_OK;
}

static double sum_times(const mo_fused *fused)
{
    double sum = 0;

    for (int i = 0; i < fused->n; i++)
        sum += fused->us[i];
    return sum;
}

/* Collects the members' times in one column; false when one has none. */
static bool collect_times(const mo_contraction *c, int group, int column,
                          double *us, int *n)
{
    const int *start = c->groups->start;

    *n = 0;
    for (int k = start[group]; k < start[group + 1]; k++) {
        int op = c->groups->member[k];
        double time_us;

        if (!mo_contraction_counts_member(c, op))
            continue;
        time_us = mo_graph_time_us(c->g, op, column);
        if (isnan(time_us))
            return false;
        us[(*n)++] = time_us;
    }
    return true;
}

static mo_status fuse_times(mo_contraction *c, int group, double *us,
                            mo_error *err)
{
    double saved_bytes = mo_contract_saved_bytes(c, group);
    mo_fused fused;

    for (int column = 0; column < c->g->n_time_columns; column++) {
        mo_status status;

        fused =
            (mo_fused){ c->g->time_columns[column].key, us, 0, saved_bytes };
        if (!collect_times(c, group, column, us, &fused.n))
            continue;
        status = mo_builder_time(c->builder, group, column,
                                 c->how->fused_us && fused.n > 1
                                     ? c->how->fused_us(c->how->context, &fused)
                                     : sum_times(&fused),
                                 err);
        if (status != MO_OK)
            return status;
    }
    return MO_OK;
}

/* Columns keep their numbers: both graphs sort them by key. */
mo_status mo_contract_times(mo_contraction *c, mo_error *err)
{
    const int *start = c->groups->start;
    double *us = calloc((size_t) c->g->n_ops + 1, sizeof *us);
    mo_status status = us ? copy_time_columns(c, err) : mo_fail_memory(err);

    for (int k = 0; k < c->how->n_groups && status == MO_OK; k++)
        status = start[k + 1] - start[k] == 1
                     ? copy_times(c, k, c->groups->member[start[k]], err)
                     : fuse_times(c, k, us, err);
    free(us);
    return status;
}
