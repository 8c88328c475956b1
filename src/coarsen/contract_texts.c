/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "coarsen/contract_internal.h"
#include "ingest/text_list.h"

/* Equal texts of a graph are the same pointer, and most come again and again:
 * what was copied lately is found by its address. */
static mo_contract_copy *copy_of(mo_contraction *c, const char *text)
{
    uint64_t address = (uint64_t) (uintptr_t) text;

    return &c->copies[address * 0x9E3779B97F4A7C15 >> 56];
}

_Static_assert(MO_CONTRACT_COPIES == 1 << (64 - 56), "one place for each hash");

mo_status mo_contract_copy_text(mo_contraction *c, const char *text,
                                const char **kept, mo_error *err)
{
    mo_contract_copy *copy = copy_of(c, text);
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

/* Puts "MatMul+Add+Gelu": the types of the members that do work. */
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

/* Puts ["a","b"]: a member that stands for others is replaced by them. */
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

/* An output whose port has no number is the only one. */
static bool put_shape(mo_contraction *c, const mo_op *op, int port)
{
    return put_part(c, op->shape, port < 0 ? 0 : port);
}

/* One element type may stand for all the outputs of an op. */
static bool put_dtype(mo_contraction *c, const mo_op *op, int port)
{
    return put_part(c, op->dtype, port < 0 ? 0 : port) ||
           (mo_text_list_count(op->dtype) == 1 && put_part(c, op->dtype, 0));
}

/* What put has to say of each output, "1,64;1,32". */
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

typedef mo_status keeper(mo_builder *, const char *, size_t, const char **,
                         mo_error *);

/* Keeps what put has put together, or NULL when it could not. */
static mo_status join(mo_contraction *c, int group,
                      bool (*put)(mo_contraction *, int), keeper *keep,
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

mo_status mo_contract_join_types(mo_contraction *c, int group,
                                 const char **types, mo_error *err)
{
    return join(c, group, put_types, mo_builder_text, types, err);
}

mo_status mo_contract_join_names(mo_contraction *c, int group,
                                 const char **names, mo_error *err)
{
    return join(c, group, put_names, mo_builder_copy_text, names, err);
}

mo_status mo_contract_join_shapes(mo_contraction *c, int group,
                                  const char **shapes, mo_error *err)
{
    return join(c, group, put_shapes, mo_builder_text, shapes, err);
}

mo_status mo_contract_join_dtypes(mo_contraction *c, int group,
                                  const char **dtypes, mo_error *err)
{
    return join(c, group, put_dtypes, mo_builder_text, dtypes, err);
}
