#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/out.h"
#include "coarsen/contraction.h"

/* Texts of a group are put together in an output that only collects, and kept
 * by the builder. */
static mo_status keep(mo_contraction *c, mo_out *out, const char **kept,
                      mo_error *err)
{
    size_t size;
    char *text = mo_out_take(out, &size);
    mo_status status = text ? mo_builder_text(c->builder, text, size, kept, err)
                            : mo_fail_memory(err);

    free(text);
    mo_out_abandon(out);
    return status;
}

/* "MatMul+Add+Gelu": the members that do work, or all when none does. */
static void join_types(const mo_contraction *c, int group, mo_out *out)
{
    const int *start = c->groups->start;
    int n_types = 0;

    for (int k = start[group]; k < start[group + 1]; k++) {
        const mo_op *op = &c->g->ops[c->groups->member[k]];

        if (!op->type || !mo_contraction_works(c, c->groups->member[k]))
            continue;
        if (n_types++ > 0)
            mo_out_char(out, '+');
        mo_out_text(out, op->type);
    }
    if (n_types == 0 && c->g->ops[c->groups->member[start[group]]].type)
        mo_out_text(out, c->g->ops[c->groups->member[start[group]]].type);
}

/* ["a","b"]: a member that stands for others is replaced by them. */
static void join_members(const mo_contraction *c, int group, mo_out *out)
{
    const int *start = c->groups->start;

    mo_out_char(out, '[');
    for (int k = start[group]; k < start[group + 1]; k++) {
        const mo_op *op = &c->g->ops[c->groups->member[k]];

        if (k > start[group])
            mo_out_char(out, ',');
        if (op->members && strlen(op->members) > 2)
            mo_out_bytes(out, op->members + 1, strlen(op->members) - 2);
        else
            mo_out_json(out, op->name);
    }
    mo_out_char(out, ']');
}

/* Of a list "a;b;c" the entry of a port; the first when there is no port. */
static void put_entry(mo_out *out, const char *list, int port)
{
    const char *end;

    for (; port > 0 && strchr(list, ';'); port--)
        list = strchr(list, ';') + 1;
    end = strchr(list, ';');
    mo_out_bytes(out, list, end ? (size_t) (end - list) : strlen(list));
}

/* The shapes (or element types) of the tensors that leave, in the order of
 * their numbers.  False when one of them does not know its own. */
static bool join_outputs(const mo_contraction *c, int group, size_t field,
                         mo_out *out)
{
    const int *start = c->groups->start;
    int n = 0;

    for (int k = start[group]; k < start[group + 1]; k++) {
        int op = c->groups->member[k];
        const char *list;

        memcpy(&list, (const char *) &c->g->ops[op] + field, sizeof list);
        for (int t = c->g->tensor_start[op]; t < c->g->tensor_start[op + 1];
             t++) {
            if (c->leaving[t] < 0)
                continue;
            if (!list)
                return false;
            if (n++ > 0)
                mo_out_char(out, ';');
            put_entry(out, list, c->g->tensors[t].port);
        }
    }
    return true;
}

static mo_status describe_outputs(mo_contraction *c, int group, size_t field,
                                  const char *of_last, const char **kept,
                                  mo_error *err)
{
    mo_out *out;
    mo_status status;

    if (c->n_leaving[group] == 0)
        return of_last ? mo_builder_text(c->builder, of_last, strlen(of_last),
                                         kept, err)
                       : MO_OK;
    status = mo_out_memory(&out, err);
    if (status != MO_OK)
        return status;
    if (join_outputs(c, group, field, out))
        return keep(c, out, kept, err);
    mo_out_abandon(out);
    return MO_OK;
}

static mo_status join(mo_contraction *c, int group,
                      void (*put)(const mo_contraction *, int, mo_out *),
                      const char **kept, mo_error *err)
{
    mo_out *out;
    mo_status status = mo_out_memory(&out, err);

    if (status != MO_OK)
        return status;
    put(c, group, out);
    return keep(c, out, kept, err);
}

/* Sums treat what is unknown as unknown (work) or as nothing (sizes), see
 * each. */
static void add_work(double *sum, double value)
{
    *sum = *sum == MO_UNKNOWN || value == MO_UNKNOWN ? MO_UNKNOWN
                                                     : *sum + value;
}

static bool add_size(int64_t *sum, int64_t value)
{
    if (value == MO_UNKNOWN)
        return true;
    if (*sum == MO_UNKNOWN)
        *sum = 0;
    return mo_int64_add(*sum, value, sum);
}

static bool add_amounts(mo_op *sum, const mo_op *op)
{
    add_work(&sum->flops, op->flops);
    add_work(&sum->bytes, op->bytes);
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

        if (c->how->group[edge->from] == MO_MAP_CONSTANT &&
            (!add_size(&sum->weight_bytes, edge->bytes) ||
             !add_size(&sum->memory_bytes, edge->bytes)))
            return false;
    }
    return true;
}

static int64_t leaving_bytes(const mo_contraction *c, int group,
                             int64_t of_last)
{
    const int *start = c->groups->start;
    int64_t sum = 0;

    if (c->n_leaving[group] == 0)
        return of_last;
    for (int k = start[group]; k < start[group + 1]; k++) {
        int op = c->groups->member[k];

        for (int t = c->g->tensor_start[op]; t < c->g->tensor_start[op + 1];
             t++) {
            if (c->leaving[t] < 0)
                continue;
            if (c->g->tensors[t].bytes == MO_UNKNOWN ||
                !mo_int64_add(sum, c->g->tensors[t].bytes, &sum))
                return MO_UNKNOWN;
        }
    }
    return sum;
}

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
            /* Written once; read once for every edge that stays inside. */
            int inside = c->leaving[t] < 0;

            for (int e = 0; e < tensor->n_edges; e++)
                inside += c->how->group[c->g->edges[tensor->first_edge + e]
                                            .to] == group;
            if (tensor->bytes != MO_UNKNOWN)
                saved += (double) inside * (double) tensor->bytes;
        }
    }
    return saved;
}

/* One text for the group out of its members': the only one there is. */
static mo_status agree(const char *what, const char *first_name,
                       const char **sum, const mo_op *op, const char *value,
                       mo_error *err)
{
    if (!value || (*sum && strcmp(*sum, value) == 0))
        return MO_OK;
    if (*sum)
        return mo_fail(err, MO_E_INPUT,
                       "ops '%s' and '%s' are one op on a device, but %s says "
                       "'%s' for one and '%s' for the other; let them agree, "
                       "or leave them apart with --fusion none",
                       first_name, op->name, what, *sum, value);
    *sum = value;
    return MO_OK;
}

/* Does the output of a member leave the network?  Its own word, or a reader
 * that vanished: only results do, of those that read. */
static bool is_output(const mo_contraction *c, int op)
{
    for (int e = c->g->out_start[op]; e < c->g->out_start[op + 1]; e++)
        if (c->how->group[c->g->edges[e].to] == MO_MAP_REPLICATED)
            return true;
    return c->g->ops[op].is_output;
}

static mo_status too_large(const mo_op *op, mo_error *err)
{
    return mo_fail(err, MO_E_INPUT,
                   "sizes of op '%s' and those it is made of exceed 2^63 "
                   "bytes together; check them", op->name);
}

static mo_status add_members(mo_contraction *c, int group, mo_op *sum,
                             mo_error *err)
{
    const int *start = c->groups->start;
    const mo_op *first = &c->g->ops[c->groups->member[start[group]]];

    for (int k = start[group]; k < start[group + 1]; k++) {
        const mo_op *op = &c->g->ops[c->groups->member[k]];
        mo_status status = agree("pin", first->name, &sum->pin, op, op->pin,
                                 err);

        if (status == MO_OK)
            status = agree("colocate", first->name, &sum->colocate, op,
                           op->colocate, err);
        if (status != MO_OK)
            return status;
        if (!add_amounts(sum, op) ||
            !add_constants(c, c->groups->member[k], sum))
            return too_large(first, err);
        sum->is_output |= is_output(c, c->groups->member[k]);
    }
    if (sum->bytes != MO_UNKNOWN) {
        sum->bytes -= mo_contract_saved_bytes(c, group);
        if (sum->bytes < 0)
            sum->bytes = 0;
    }
    return MO_OK;
}

/* The texts of a graph live in its arena; the coarse graph wants its own. */
static mo_status keep_texts(mo_contraction *c, mo_op *op, mo_error *err)
{
    const char **texts[] = { &op->label, &op->type,    &op->shape,
                             &op->dtype, &op->attrs,   &op->weights,
                             &op->pin,   &op->colocate, &op->members };

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        mo_status status;

        if (!*texts[i])
            continue;
        status = mo_builder_text(c->builder, *texts[i], strlen(*texts[i]),
                                 texts[i], err);
        if (status != MO_OK)
            return status;
    }
    return MO_OK;
}

/* The only member that does work, or -1: its parameters stay true of the
 * whole. */
static int sole_worker(const mo_contraction *c, int group)
{
    const int *start = c->groups->start;
    int found = -1;

    for (int k = start[group]; k < start[group + 1]; k++) {
        if (!mo_contraction_works(c, c->groups->member[k]))
            continue;
        if (found >= 0)
            return -1;
        found = c->groups->member[k];
    }
    return found;
}

static mo_status merge(mo_contraction *c, int group, mo_op *op, mo_error *err)
{
    const int *start = c->groups->start;
    const mo_op *last = &c->g->ops[c->groups->member[start[group + 1] - 1]];
    int worker = sole_worker(c, group);
    mo_status status = add_members(c, group, op, err);

    op->output_bytes = leaving_bytes(c, group, last->output_bytes);
    if (worker >= 0)
        op->attrs = c->g->ops[worker].attrs;
    if (status == MO_OK)
        status = keep_texts(c, op, err);
    if (status == MO_OK)
        status = join(c, group, join_types, &op->type, err);
    if (status == MO_OK)
        status = join(c, group, join_members, &op->members, err);
    if (status == MO_OK)
        status = describe_outputs(c, group, offsetof(mo_op, shape),
                                  last->shape, &op->shape, err);
    if (status == MO_OK)
        status = describe_outputs(c, group, offsetof(mo_op, dtype),
                                  last->dtype, &op->dtype, err);
    return status;
}

mo_status mo_contract_op(mo_contraction *c, int group, mo_error *err)
{
    const int *start = c->groups->start;
    int first = c->groups->member[start[group]];
    const mo_op *alone = &c->g->ops[first];
    mo_op made = { .weight_bytes = MO_UNKNOWN, .workspace_bytes = MO_UNKNOWN };
    mo_op *op;
    int slot;
    mo_status status = MO_OK;

    if (start[group + 1] - start[group] == 1) {
        made = *alone;
        made.is_output = is_output(c, first);
        status = add_constants(c, first, &made) ? keep_texts(c, &made, err)
                                                : too_large(alone, err);
    } else {
        status = merge(c, group, &made, err);
    }
    if (status == MO_OK)
        status = mo_builder_slot(c->builder, alone->name, strlen(alone->name),
                                 0, &slot, err);
    if (status == MO_OK)
        status = mo_builder_define(c->builder, slot, alone->line, &op, err);
    if (status != MO_OK)
        return status;
    made.name = op->name;
    made.line = alone->line;
    *op = made;
    return MO_OK;
}
