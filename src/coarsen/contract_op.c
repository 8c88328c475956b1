/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/array.h"
#include "coarsen/contract_internal.h"

/* Work is known when all of it is; what does none need not say so. */
static void add_work(double *sum, double value, bool works)
{
    if (value == MO_UNKNOWN && !works)
        return;
    *sum =
        *sum == MO_UNKNOWN || value == MO_UNKNOWN ? MO_UNKNOWN : *sum + value;
}

/* Sizes nobody knows are nothing; false when the sum is no number. */
static bool add_size(int64_t *sum, int64_t value)
{
    if (value == MO_UNKNOWN)
        return true;
    if (*sum == MO_UNKNOWN)
        *sum = 0;
    return mo_int64_add(*sum, value, sum);
}

static bool add_amounts(mo_op *sum, const mo_op *op, bool works)
{
    add_work(&sum->flops, op->flops, works);
    add_work(&sum->bytes, op->bytes, works);
    return add_size(&sum->memory_bytes, op->memory_bytes) &&
           add_size(&sum->weight_bytes, op->weight_bytes) &&
           add_size(&sum->workspace_bytes, op->workspace_bytes);
}

/* What an op reads of those that become constants is from now on part of its
 * weights. */
static bool add_constants(const mo_contraction *c, int op, mo_op *sum)
{
    const mo_graph *g = c->g;

    for (int i = g->in_start[op]; i < g->in_start[op + 1]; i++) {
        const mo_edge *edge = &g->edges[g->in_edges[i]];

        if (c->how->group[edge->from] == MO_COARSEN_MAP_CONSTANT &&
            (!add_size(&sum->weight_bytes, edge->bytes) ||
             !add_size(&sum->memory_bytes, edge->bytes)))
            return false;
    }
    return true;
}

static int readers_inside(const mo_contraction *c, const mo_tensor *tensor,
                          int group)
{
    int n = 0;

    for (int e = 0; e < tensor->n_edges; e++)
        n += c->how->group[c->g->edges[tensor->first_edge + e].to] == group;
    return n;
}

/* What is read inside need not be read; nor written, when that is all. */
double mo_contract_saved_bytes(const mo_contraction *c, int group)
{
    const int *start = c->groups->start;
    double saved = 0;

    if (c->how->silent)
        return 0;
    for (int k = start[group]; k < start[group + 1]; k++) {
        int op = c->groups->member[k];

        for (int t = c->g->tensor_start[op]; t < c->g->tensor_start[op + 1];
             t++) {
            const mo_tensor *tensor = &c->g->tensors[t];
            int reads = readers_inside(c, tensor, group);
            int writes =
                reads > 0 && c->output[t] < 0 && !c->g->ops[op].is_output;

            if (tensor->bytes != MO_UNKNOWN)
                saved += (double) (reads + writes) * (double) tensor->bytes;
        }
    }
    return saved;
}

/* One text for the group out of its members': the only one there is.  *owner
 * is whose it is. */
static mo_status agree(const char *what, const char **sum, const mo_op **owner,
                       const char *value, const mo_op *op, mo_error *err)
{
    if (!value || (*sum && strcmp(*sum, value) == 0))
        return MO_OK;
    if (*sum)
        return mo_fail(err, MO_E_INPUT,
                       "ops '%s' and '%s' are one op on a device, but %s says "
                       "'%s' for one and '%s' for the other; let them agree, "
                       "or leave them apart with --fusion none",
                       (*owner)->name, op->name, what, *sum, value);
    *sum = value;
    *owner = op;
    return MO_OK;
}

static mo_status agree_on_places(const mo_contraction *c, int group, mo_op *sum,
                                 mo_error *err)
{
    const int *start = c->groups->start;
    const mo_op *pinned = NULL, *colocated = NULL;
    mo_status status = MO_OK;

    for (int k = start[group]; k < start[group + 1] && status == MO_OK; k++) {
        const mo_op *op = &c->g->ops[c->groups->member[k]];

        status = agree("pin", &sum->pin, &pinned, op->pin, op, err);
        if (status == MO_OK)
            status = agree("colocate", &sum->colocate, &colocated, op->colocate,
                           op, err);
    }
    return status;
}

/* Does the output of a member leave the network?  Its own word, or a reader
 * that vanished: only results do, of those that read. */
static bool is_output(const mo_contraction *c, int op)
{
    for (int e = c->g->out_start[op]; e < c->g->out_start[op + 1]; e++)
        if (c->how->group[c->g->edges[e].to] == MO_COARSEN_MAP_REPLICATED)
            return true;
    return c->g->ops[op].is_output;
}

static mo_status too_large(const mo_op *op, mo_error *err)
{
    return mo_fail(err, MO_E_INPUT,
                   "sizes of op '%s' and those it is made of exceed 2^63 "
                   "bytes together; check them",
                   op->name);
}

static mo_status add_members(const mo_contraction *c, int group, mo_op *sum,
                             mo_error *err)
{
    const int *start = c->groups->start, *member = c->groups->member;

    for (int k = start[group]; k < start[group + 1]; k++) {
        const mo_op *op = &c->g->ops[member[k]];

        if (!add_amounts(sum, op, mo_contraction_counts_member(c, member[k])) ||
            !add_constants(c, member[k], sum))
            return too_large(&c->g->ops[member[start[group]]], err);
        sum->is_output |= is_output(c, member[k]);
    }
    if (sum->bytes != MO_UNKNOWN) {
        sum->bytes -= mo_contract_saved_bytes(c, group);
        if (sum->bytes < 0)
            sum->bytes = 0;
    }
    return MO_OK;
}

/* The members that do work: how many, and the last of them; when none does,
 * the last of all. */
static int count_workers(const mo_contraction *c, int group, const mo_op **last)
{
    const int *start = c->groups->start, *member = c->groups->member;
    int n = 0;

    *last = &c->g->ops[member[start[group + 1] - 1]];
    for (int k = start[group]; k < start[group + 1]; k++)
        if (mo_contraction_counts_member(c, member[k])) {
            *last = &c->g->ops[member[k]];
            n++;
        }
    return n;
}

/* Of a group that nobody reads, the output is what the last one makes. */
static mo_status describe_outputs(mo_contraction *c, int group,
                                  const mo_op *last, mo_op *op, mo_error *err)
{
    bool is_read = mo_contraction_outputs(c, group) > 0;
    mo_status status;

    op->output_bytes =
        is_read ? mo_contract_output_bytes(c, group) : last->output_bytes;
    status = is_read ? mo_contract_join_shapes(c, group, &op->shape, err)
                     : mo_contract_copy_text(c, last->shape, &op->shape, err);
    if (status == MO_OK)
        status = is_read
                     ? mo_contract_join_dtypes(c, group, &op->dtype, err)
                     : mo_contract_copy_text(c, last->dtype, &op->dtype, err);
    return status;
}

/* The texts of a graph live in its arena; the coarse graph wants its own. */
static mo_status keep_texts(mo_contraction *c, mo_op *op, mo_error *err)
{
    const char **texts[] = { &op->label, &op->type,     &op->shape,
                             &op->dtype, &op->attrs,    &op->weights,
                             &op->pin,   &op->colocate, &op->members };
    mo_status status = MO_OK;

    for (size_t i = 0; i < sizeof texts / sizeof *texts && status == MO_OK; i++)
        status = mo_contract_copy_text(c, *texts[i], texts[i], err);
    return status;
}

/* A single op that does work lends its parameters: they stay true of the
 * whole. */
static mo_status merge(mo_contraction *c, int group, mo_op *op, mo_error *err)
{
    const mo_op *first = &c->g->ops[c->groups->member[c->groups->start[group]]];
    const mo_op *last;
    mo_status status;

    *op = (mo_op){ .label = first->label,
                   .weight_bytes = MO_UNKNOWN,
                   .workspace_bytes = MO_UNKNOWN };
    if (count_workers(c, group, &last) == 1)
        op->attrs = last->attrs;
    status = add_members(c, group, op, err);
    if (status == MO_OK)
        status = agree_on_places(c, group, op, err);
    if (status == MO_OK)
        status = keep_texts(c, op, err);
    if (status == MO_OK)
        status = mo_contract_join_types(c, group, &op->type, err);
    if (status == MO_OK)
        status = mo_contract_join_names(c, group, &op->members, err);
    if (status == MO_OK)
        status = describe_outputs(c, group, last, op, err);
    return status;
}

static mo_status copy(mo_contraction *c, int id, mo_op *op, mo_error *err)
{
    *op = c->g->ops[id];
    op->is_output = is_output(c, id);
    if (!add_constants(c, id, op))
        return too_large(op, err);
    return keep_texts(c, op, err);
}

mo_status mo_contract_op(mo_contraction *c, int group, mo_error *err)
{
    int first = c->groups->member[c->groups->start[group]], slot;
    const char *name = c->g->ops[first].name;
    int line = c->g->ops[first].line;
    mo_op made, *op;
    mo_status status = mo_contraction_size(c, group) == 1
                           ? copy(c, first, &made, err)
                           : merge(c, group, &made, err);

    if (status == MO_OK)
        status = mo_builder_new_slot(c->builder, name, strlen(name), line,
                                     &slot, err);
    if (status == MO_OK)
        status = mo_builder_define(c->builder, slot, line, &op, err);
    if (status != MO_OK)
        return status;
    made.name = op->name;
    made.line = line;
    *op = made;
    return MO_OK;
}
