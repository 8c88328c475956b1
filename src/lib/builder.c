/* SPDX-License-Identifier: Apache-2.0 */
/* The builder of the library: a graph from the caller's own numbers. */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "graph/build.h"
#include "ingest/work.h"
#include "lib/handles.h"
#include "lib/op_key.h"

struct moirai_builder {
    mo_builder *builder; /* NULL: finished */
    int n_ops, n_edges;
};

static const char name_of_builder[] = "<builder>";

moirai_status moirai_builder_new(moirai_builder **builder, moirai_error *err)
{
    moirai_builder *made = calloc(1, sizeof *made);
    mo_status status = made ? mo_builder_new(name_of_builder, &made->builder,
                                             mo_lib_error(err))
                            : mo_fail_memory(mo_lib_error(err));

    if (status == MO_OK)
        *builder = made;
    else
        free(made);
    return mo_lib_status(status);
}

void moirai_builder_free(moirai_builder *builder)
{
    if (builder)
        mo_builder_free(builder->builder);
    free(builder);
}

static mo_status check_builder(const moirai_builder *b, mo_error *err)
{
    return b->builder ? MO_OK
                      : mo_fail(err, MO_E_USAGE, "the graph is made already");
}

static mo_status check_op(const moirai_builder *b, int op, mo_error *err)
{
    mo_status status = check_builder(b, err);

    if (status == MO_OK && (op < 0 || op >= b->n_ops))
        return mo_fail(err, MO_E_USAGE, "there is no op %d; there are %d", op,
                       b->n_ops);
    return status;
}

static mo_status check_us(double us, mo_error *err)
{
    return isfinite(us) && us >= 0
               ? MO_OK
               : mo_fail(err, MO_E_INPUT,
                         "a time must be finite and not negative");
}

/* Every op is defined when it is mentioned, so slots are numbers of ops. */
static mo_status add_op(moirai_builder *b, const char *name, const char *type,
                        int64_t memory_bytes, int *number, mo_error *err)
{
    const char *kept = NULL;
    mo_op *op = NULL;
    int slot;
    mo_status status = check_builder(b, err);

    if (status == MO_OK && (!*name || memory_bytes < -1))
        status = mo_fail(err, MO_E_INPUT,
                         "op '%.80s': needs a name, and memory that is not "
                         "negative",
                         name);
    if (status == MO_OK && mo_builder_find(b->builder, name, strlen(name)) >= 0)
        status =
            mo_fail(err, MO_E_INPUT,
                    "there are two ops '%.80s'; give each its own name", name);
    if (status == MO_OK && type)
        status = mo_builder_text(b->builder, type, strlen(type), &kept, err);
    if (status == MO_OK)
        status = mo_builder_slot(b->builder, name, strlen(name), 0, &slot, err);
    if (status == MO_OK)
        status = mo_builder_define(b->builder, slot, 0, &op, err);
    if (status != MO_OK)
        return status;
    op->type = kept;
    op->memory_bytes = memory_bytes;
    op->memory_given = true;
    b->n_ops++;
    *number = slot;
    return MO_OK;
}

moirai_status moirai_builder_op(moirai_builder *builder, const char *name,
                                const char *type, int64_t memory_bytes, int *op,
                                moirai_error *err)
{
    return mo_lib_status(
        add_op(builder, name, type, memory_bytes, op, mo_lib_error(err)));
}

static mo_status parse_amount(const char *key, const char *value,
                              double *number, mo_error *err)
{
    if (mo_number_read_double(value, strlen(value), number) != MO_NUMBER_OK ||
        !(*number >= 0 && *number <= 9e18))
        return mo_fail(err, MO_E_INPUT, "%s is '%.80s', which is no amount",
                       key, value);
    return MO_OK;
}

static mo_status set_member(moirai_builder *b, int op, const mo_lib_op_key *key,
                            const char *value, mo_error *err)
{
    const char *kept = NULL;
    double number = 0;
    char *member;
    mo_status status =
        key->type == MO_LIB_OP_TEXT
            ? mo_builder_text(b->builder, value, strlen(value), &kept, err)
            : parse_amount(key->name, value, &number, err);

    if (status != MO_OK)
        return status;
    member = (char *) mo_builder_op(b->builder, op) + key->offset;
    if (key->type == MO_LIB_OP_TEXT)
        *(const char **) member = kept;
    else if (key->type == MO_LIB_OP_DOUBLE)
        *(double *) member = number;
    else
        *(int64_t *) member = (int64_t) number;
    return MO_OK;
}

moirai_status moirai_builder_op_set(moirai_builder *builder, int op,
                                    const char *key, const char *value,
                                    moirai_error *err)
{
    mo_error *e = mo_lib_error(err);
    const mo_lib_op_key *k = mo_lib_op_key_find(key);
    mo_status status = check_op(builder, op, e);

    if (status == MO_OK && (!k || !k->can_set))
        status =
            mo_fail(e, MO_E_USAGE, "an op has no '%.80s' that can be set", key);
    if (status == MO_OK)
        status = set_member(builder, op, k, value, e);
    return mo_lib_status(status);
}

moirai_status moirai_builder_edge(moirai_builder *builder, int from, int to,
                                  int64_t bytes, int *edge, moirai_error *err)
{
    mo_error *e = mo_lib_error(err);
    const mo_builder_edge link = { .from = from,
                                   .to = to,
                                   .src_port = MO_PORT_NONE,
                                   .dst_port = MO_PORT_NONE,
                                   .bytes = bytes };
    int number;
    mo_status status = check_op(builder, from, e);

    if (status == MO_OK)
        status = check_op(builder, to, e);
    if (status == MO_OK && bytes < -1)
        status = mo_fail(e, MO_E_INPUT,
                         "edge from op %d to op %d: negative bytes", from, to);
    if (status == MO_OK)
        status = mo_builder_add_edge(builder->builder, &link, &number, e);
    if (status != MO_OK)
        return mo_lib_status(status);
    builder->n_edges++;
    if (edge)
        *edge = number;
    return MOIRAI_OK;
}

moirai_status moirai_builder_time(moirai_builder *builder, int op,
                                  const char *device, double us,
                                  moirai_error *err)
{
    mo_error *e = mo_lib_error(err);
    int column;
    mo_status status = check_op(builder, op, e);

    if (status == MO_OK)
        status = check_us(us, e);
    if (status == MO_OK)
        status = mo_builder_time_column(builder->builder, device,
                                        strlen(device), &column, e);
    if (status == MO_OK)
        status = mo_builder_time(builder->builder, op, column, us, e);
    return mo_lib_status(status);
}

/* The column of a pair of devices is "A.B". */
static mo_status pair_column(moirai_builder *b, const char *from,
                             const char *to, int *column, mo_error *err)
{
    size_t n = strlen(from), m = strlen(to);
    char *key = malloc(n + m + 2);
    mo_status status;

    if (!key)
        return mo_fail_memory(err);
    snprintf(key, n + m + 2, "%s.%s", from, to);
    status = mo_builder_comm_column(b->builder, key, n + m + 1, column, err);
    free(key);
    return status;
}

moirai_status moirai_builder_transfer_time(moirai_builder *builder, int edge,
                                           const char *from, const char *to,
                                           double us, moirai_error *err)
{
    mo_error *e = mo_lib_error(err);
    int column;
    mo_status status = check_builder(builder, e);

    if (status == MO_OK && (edge < 0 || edge >= builder->n_edges))
        status = mo_fail(e, MO_E_USAGE, "there is no edge %d; there are %d",
                         edge, builder->n_edges);
    if (status == MO_OK)
        status = check_us(us, e);
    if (status == MO_OK)
        status = pair_column(builder, from, to, &column, e);
    if (status == MO_OK)
        status = mo_builder_comm(builder->builder, edge, column, us, e);
    return mo_lib_status(status);
}

moirai_status moirai_builder_finish(moirai_builder *builder,
                                    const moirai_options *options,
                                    moirai_graph **graph, moirai_error *err)
{
    mo_error *e = mo_lib_error(err);
    mo_graph *made = NULL;
    mo_status status = check_builder(builder, e);

    if (status == MO_OK)
        status = mo_builder_finish(builder->builder, &made, e);
    if (status == MO_OK)
        status = mo_work_fill(made, e);
    if (status != MO_OK) {
        mo_graph_free(made);
        return mo_lib_status(status);
    }
    mo_builder_free(builder->builder);
    builder->builder = NULL;
    return mo_lib_status(
        mo_lib_graph_make(made, name_of_builder, options, graph, e));
}
