/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Contraction of a group to one op: its work, memory, outputs and constraints
 * from those of its members.
 */
#include "coarsen/contract_internal.h"

#include <string.h>

#include "base/array.h"
#include "graph/output_types.h"

_Static_assert(MO_CONTRACT_COPIES == 1 << (64 - 56), "one place for each hash");

mo_status mo_contract_copy_text(mo_contraction *c, const char *text,
                                const char **kept, mo_error *err)
{
    /* Equal texts of a graph are the same pointer, and most recur: a recent
     * copy is found by the address of the original. */
    uint64_t address = (uint64_t) (uintptr_t) text;
    mo_contract_copy *copy = &c->copies[address * 0x9E3779B97F4A7C15 >> 56];
    mo_status status;

    if (text && copy->from != text) {
        status =
            mo_builder_text(c->builder, text, strlen(text), &copy->to, err);
        if (status != MO_OK)
            return status;
        copy->from = text;
    }
    *kept = text ? copy->to : NULL;
    return MO_OK;
}

/* Writes "MatMul+Add+Gelu": the types of the members that are not silent. */
static bool put_types(mo_contraction *c, int group)
{
    const int *start = c->groups->start, *member = c->groups->member;
    bool is_first = true;

    for (int k = start[group]; k < start[group + 1]; k++) {
        const char *type = c->g->ops[member[k]].type;

        if (!type || !mo_contraction_counts_member(c, member[k]))
            continue;
        if (!is_first)
            mo_out_char(c->text, '+');
        mo_out_text(c->text, type);
        is_first = false;
    }
    return !is_first;
}

/* Writes ["a","b"]: a member that is a coarse op itself is replaced by its
 * members. */
static bool put_names(mo_contraction *c, int group)
{
    const int *start = c->groups->start;

    mo_out_char(c->text, '[');
    for (int k = start[group]; k < start[group + 1]; k++) {
        const mo_op *op = &c->g->ops[c->groups->member[k]];

        if (k > start[group])
            mo_out_char(c->text, ',');
        if (op->members)
            mo_out_bytes(c->text, op->members + 1, strlen(op->members) - 2);
        else
            mo_out_json(c->text, op->name);
    }
    mo_out_char(c->text, ']');
    return true;
}

static bool put_part(mo_contraction *c, const char *list, int part)
{
    size_t length;
    const char *text = mo_text_list_at(list, part, &length);

    if (text)
        mo_out_bytes(c->text, text, length);
    return text != NULL;
}

/* An output without a port number is the only one. */
static bool put_shape(mo_contraction *c, const mo_op *op, int port)
{
    return put_part(c, op->shape, port < 0 ? 0 : port);
}

/* One element type may apply to all outputs of an op. */
static bool put_dtype(mo_contraction *c, const mo_op *op, int port)
{
    return put_part(c, op->dtype, port < 0 ? 0 : port) ||
           (mo_text_list_count(op->dtype) == 1 && put_part(c, op->dtype, 0));
}

/* Writes a list with one entry per output, "1,64;1,32"; false when one is not
 * known. */
static bool put_outputs(mo_contraction *c, int group,
                        bool (*put)(mo_contraction *, const mo_op *, int))
{
    const int *start = c->output_start;

    for (int i = start[group]; i < start[group + 1]; i++) {
        const mo_tensor *tensor = &c->g->tensors[c->outputs[i]];

        if (i > start[group])
            mo_out_char(c->text, ';');
        if (!put(c, &c->g->ops[tensor->producer], tensor->port))
            return false;
    }
    return true;
}

static bool put_shapes(mo_contraction *c, int group)
{
    return put_outputs(c, group, put_shape);
}

static bool put_dtypes(mo_contraction *c, int group)
{
    return put_outputs(c, group, put_dtype);
}

typedef mo_status text_store(mo_builder *, const char *, size_t, const char **,
                             mo_error *);

/* Sets *kept to the text that put writes, or to NULL when put returns false. */
static mo_status join_text(mo_contraction *c, int group,
                           bool (*put)(mo_contraction *, int), text_store *keep,
                           const char **kept, mo_error *err)
{
    bool is_known = put(c, group);
    size_t size;
    const char *text = mo_out_borrow(c->text, &size);

    *kept = NULL;
    if (!text)
        return mo_fail_memory(err);
    return is_known ? keep(c->builder, text, size, kept, err) : MO_OK;
}

/* Memory traffic that fusion avoids: a tensor read inside the group is not
 * read back; nor is it written, when all its readers are inside. */
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
            int reads = 0, writes;

            for (int e = 0; e < tensor->n_edges; e++)
                reads +=
                    c->how->group[c->g->edges[tensor->first_edge + e].to] ==
                    group;
            writes = reads > 0 && c->output[t] < 0 && !c->g->ops[op].is_output;

            if (tensor->bytes != MO_UNKNOWN)
                saved += (double) (reads + writes) * (double) tensor->bytes;
        }
    }
    return saved;
}

/* The sum is unknown when one term is, except for silent members. */
static void add_work(double *sum, double value, bool works)
{
    if (value == MO_UNKNOWN && !works)
        return;
    *sum =
        *sum == MO_UNKNOWN || value == MO_UNKNOWN ? MO_UNKNOWN : *sum + value;
}

/* Unknown sizes count as 0; returns false on overflow. */
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

/* Inputs that become constants are part of the op's weights from now on. */
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

/* Sets the text of the group to the only one that its members have; *owner is
 * the member it came from. */
static mo_status unify_text(const char *what, const char **sum,
                            const mo_op **owner, const char *value,
                            const mo_op *op, mo_error *err)
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

static mo_status unify_placement(const mo_contraction *c, int group, mo_op *sum,
                                 mo_error *err)
{
    const int *start = c->groups->start;
    const mo_op *pinned = NULL, *colocated = NULL;
    mo_status status = MO_OK;

    for (int k = start[group]; k < start[group + 1] && status == MO_OK; k++) {
        const mo_op *op = &c->g->ops[c->groups->member[k]];

        status = unify_text("pin", &sum->pin, &pinned, op->pin, op, err);
        if (status == MO_OK)
            status = unify_text("colocate", &sum->colocate, &colocated,
                                op->colocate, op, err);
    }
    return status;
}

/* Returns whether the output of a member leaves the network: it is marked so,
 * or one of its readers is removed, which only results are. */
static bool leaves_network(const mo_contraction *c, int op)
{
    for (int e = c->g->out_start[op]; e < c->g->out_start[op + 1]; e++)
        if (c->how->group[c->g->edges[e].to] == MO_COARSEN_MAP_REPLICATED)
            return true;
    return c->g->ops[op].is_output;
}

static mo_status fail_too_large(const mo_op *op, mo_error *err)
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
            return fail_too_large(&c->g->ops[member[start[group]]], err);
        sum->is_output |= leaves_network(c, member[k]);
    }
    if (sum->bytes != MO_UNKNOWN) {
        sum->bytes -= mo_contract_saved_bytes(c, group);
        if (sum->bytes < 0)
            sum->bytes = 0;
    }
    return MO_OK;
}

/* Returns the number of members that are not silent; *last is the last of them
 * or, without any, the last member. */
static int count_working_members(const mo_contraction *c, int group,
                                 const mo_op **last)
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

/* A group without readers has the output of its last member. */
static mo_status describe_outputs(mo_contraction *c, int group,
                                  const mo_op *last, mo_op *op, mo_error *err)
{
    bool is_read = mo_contraction_outputs(c, group) > 0;
    mo_status status;

    op->output_bytes =
        is_read ? mo_contract_output_bytes(c, group) : last->output_bytes;
    status = is_read ? join_text(c, group, put_shapes, mo_builder_text,
                                 &op->shape, err)
                     : mo_contract_copy_text(c, last->shape, &op->shape, err);
    if (status == MO_OK)
        status = is_read
                     ? join_text(c, group, put_dtypes, mo_builder_text,
                                 &op->dtype, err)
                     : mo_contract_copy_text(c, last->dtype, &op->dtype, err);
    return status;
}

/* Copies the texts of op, which another graph owns, into the coarse graph. */
static mo_status copy_texts(mo_contraction *c, mo_op *op, mo_error *err)
{
    const char **texts[] = { &op->label, &op->type,     &op->shape,
                             &op->dtype, &op->attrs,    &op->weights,
                             &op->pin,   &op->colocate, &op->members,
                             &op->state };
    mo_status status = MO_OK;

    for (size_t i = 0; i < sizeof texts / sizeof *texts && status == MO_OK; i++)
        status = mo_contract_copy_text(c, *texts[i], texts[i], err);
    return status;
}

/* The attributes of a group are those of its only working member, if there is
 * only one: they stay true of the whole. */
static mo_status merge_members(mo_contraction *c, int group, mo_op *op,
                               mo_error *err)
{
    const mo_op *first = &c->g->ops[c->groups->member[c->groups->start[group]]];
    const mo_op *last;
    mo_status status;

    *op = (mo_op){ .label = first->label,
                   .weight_bytes = MO_UNKNOWN,
                   .workspace_bytes = MO_UNKNOWN };
    if (count_working_members(c, group, &last) == 1)
        op->attrs = last->attrs;
    status = add_members(c, group, op, err);
    if (status == MO_OK)
        status = unify_placement(c, group, op, err);
    if (status == MO_OK)
        status = copy_texts(c, op, err);
    if (status == MO_OK)
        status =
            join_text(c, group, put_types, mo_builder_text, &op->type, err);
    if (status == MO_OK)
        status = join_text(c, group, put_names, mo_builder_copy_text,
                           &op->members, err);
    if (status == MO_OK)
        status = describe_outputs(c, group, last, op, err);
    return status;
}

static mo_status copy_op(mo_contraction *c, int id, mo_op *op, mo_error *err)
{
    *op = c->g->ops[id];
    op->is_output = leaves_network(c, id);
    if (!add_constants(c, id, op))
        return fail_too_large(op, err);
    return copy_texts(c, op, err);
}

mo_status mo_contract_op(mo_contraction *c, int group, mo_error *err)
{
    int first = c->groups->member[c->groups->start[group]], slot;
    const char *name = c->g->ops[first].name;
    int line = c->g->ops[first].line;
    mo_op made, *op;
    mo_status status = mo_contraction_size(c, group) == 1
                           ? copy_op(c, first, &made, err)
                           : merge_members(c, group, &made, err);

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
