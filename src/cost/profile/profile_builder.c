/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/profile/profile_builder.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

struct mo_profile_builder {
    mo_arena *arena;
    const char *host, *emulated;
    int in_flight;
    double overhead_us, copy_gbs, host_request_us, host_transfer_us;
    double parts_slowdown, parts_overhead_us;
    mo_profile_op *ops;
    size_t n_ops, ops_room;
    mo_profile_link *links;
    size_t n_links, links_room;
    mo_profile_rate *rates;
    size_t n_rates, rates_room;
};

mo_status mo_profile_builder_new(mo_profile_builder **builder, mo_error *err)
{
    mo_profile_builder *made = calloc(1, sizeof *made);

    if (!made)
        return mo_fail_memory(err);
    made->arena = mo_arena_new();
    if (!made->arena) {
        free(made);
        return mo_fail_memory(err);
    }
    *builder = made;
    return MO_OK;
}

void mo_profile_builder_free(mo_profile_builder *builder)
{
    if (!builder)
        return;
    free(builder->rates);
    free(builder->links);
    free(builder->ops);
    mo_arena_free(builder->arena);
    free(builder);
}

mo_arena *mo_profile_builder_arena(mo_profile_builder *builder)
{
    return builder->arena;
}

void mo_profile_builder_host(mo_profile_builder *builder, const char *host)
{
    builder->host = host;
}

void mo_profile_builder_emulated(mo_profile_builder *builder,
                                 const char *emulated)
{
    builder->emulated = emulated;
}

void mo_profile_builder_in_flight(mo_profile_builder *builder, int in_flight)
{
    builder->in_flight = in_flight;
}

void mo_profile_builder_overhead(mo_profile_builder *builder,
                                 double overhead_us, double copy_gbs)
{
    builder->overhead_us = overhead_us;
    builder->copy_gbs = copy_gbs;
}

void mo_profile_builder_host_times(mo_profile_builder *builder,
                                   double request_us, double transfer_us)
{
    builder->host_request_us = request_us;
    builder->host_transfer_us = transfer_us;
}

void mo_profile_builder_parts(mo_profile_builder *builder, double slowdown,
                              double overhead_us)
{
    builder->parts_slowdown = slowdown;
    builder->parts_overhead_us = overhead_us;
}

mo_status mo_profile_builder_op(mo_profile_builder *builder,
                                const mo_profile_op *op, mo_error *err)
{
    mo_status status;

    if (builder->n_ops == MO_MAX_PROFILE_OPS)
        return mo_fail_at(err, MO_E_LIMIT, NULL, op->line,
                          "more than %d ops; profile fewer",
                          MO_MAX_PROFILE_OPS);
    status =
        MO_ARRAY_GROW(builder->ops, builder->n_ops, builder->ops_room, err);
    if (status == MO_OK)
        builder->ops[builder->n_ops++] = *op;
    return status;
}

mo_status mo_profile_builder_link(mo_profile_builder *builder,
                                  const mo_profile_link *link, mo_error *err)
{
    mo_status status;

    if (builder->n_links == MO_MAX_PROFILE_LINKS)
        return mo_fail_at(err, MO_E_LIMIT, NULL, link->line,
                          "more than %d links; profile fewer",
                          MO_MAX_PROFILE_LINKS);
    status = MO_ARRAY_GROW(builder->links, builder->n_links,
                           builder->links_room, err);
    if (status == MO_OK)
        builder->links[builder->n_links++] = *link;
    return status;
}

mo_status mo_profile_builder_rate(mo_profile_builder *builder,
                                  const mo_profile_rate *rate, mo_error *err)
{
    mo_status status;

    if (builder->n_rates == MO_MAX_DEVICES)
        return mo_fail_at(err, MO_E_LIMIT, NULL, rate->line,
                          "rates of more than %d devices", MO_MAX_DEVICES);
    status = MO_ARRAY_GROW(builder->rates, builder->n_rates,
                           builder->rates_room, err);
    if (status == MO_OK)
        builder->rates[builder->n_rates++] = *rate;
    return status;
}

static int compare_lines(int a, int b)
{
    return (a > b) - (a < b);
}

static int compare_ops(const void *a, const void *b)
{
    const mo_profile_op *x = a, *y = b;
    int order = strcmp(x->device, y->device);

    if (order == 0)
        order = strcmp(x->signature, y->signature);
    return order != 0 ? order : compare_lines(x->line, y->line);
}

static int compare_links(const void *a, const void *b)
{
    const mo_profile_link *x = a, *y = b;
    int order = strcmp(x->from, y->from);

    if (order == 0)
        order = strcmp(x->to, y->to);
    if (order == 0)
        order =
            (x->from_bytes > y->from_bytes) - (x->from_bytes < y->from_bytes);
    return order != 0 ? order : compare_lines(x->line, y->line);
}

static mo_status sort_ops(mo_profile_op *ops, int n, mo_error *err)
{
    if (n > 0)
        qsort(ops, (size_t) n, sizeof *ops, compare_ops);
    for (int i = 1; i < n; i++) {
        const mo_profile_op *a = &ops[i - 1], *b = &ops[i];

        if (strcmp(a->device, b->device) == 0 &&
            strcmp(a->signature, b->signature) == 0)
            return mo_fail_at(err, MO_E_INPUT, NULL, b->line,
                              "'%.200s' on '%.80s' is there already, from line "
                              "%d; keep one of them",
                              b->signature, b->device, a->line);
    }
    return MO_OK;
}

static int compare_rates(const void *a, const void *b)
{
    const mo_profile_rate *x = a, *y = b;
    int order = strcmp(x->device, y->device);

    return order != 0 ? order : compare_lines(x->line, y->line);
}

static mo_status sort_rates(mo_profile_rate *rates, int n, mo_error *err)
{
    if (n > 0)
        qsort(rates, (size_t) n, sizeof *rates, compare_rates);
    for (int i = 1; i < n; i++)
        if (strcmp(rates[i - 1].device, rates[i].device) == 0)
            return mo_fail_at(err, MO_E_INPUT, NULL, rates[i].line,
                              "rates of '%.80s' are there already, from line "
                              "%d; keep one of them",
                              rates[i].device, rates[i - 1].line);
    return MO_OK;
}

static mo_status sort_links(mo_profile_link *links, int n, mo_error *err)
{
    if (n > 0)
        qsort(links, (size_t) n, sizeof *links, compare_links);
    for (int i = 1; i < n; i++) {
        const mo_profile_link *a = &links[i - 1], *b = &links[i];

        if (strcmp(a->from, b->from) == 0 && strcmp(a->to, b->to) == 0 &&
            a->from_bytes == b->from_bytes)
            return mo_fail_at(err, MO_E_INPUT, NULL, b->line,
                              "the link from '%.80s' to '%.80s' for as many "
                              "bytes is there already, from line %d; keep one "
                              "of them",
                              b->from, b->to, a->line);
    }
    return MO_OK;
}

/* Cache of the short name of a known model, or NULL. Rows of one device are
 * contiguous, so the last result is mostly the next. */
typedef struct model_name {
    const char *asked, *found;
} model_name;

static const char *name_model(model_name *last, const char *device)
{
    if (!last->asked || strcmp(last->asked, device) != 0) {
        const mo_device_model *known = mo_device_find(device);

        last->asked = device;
        last->found = known ? known->name : NULL;
    }
    return last->found;
}

static mo_status add_model_links(mo_profile *p, mo_error *err)
{
    model_name last_from = { NULL, NULL }, last_to = { NULL, NULL };

    p->model_links =
        mo_arena_array(p->arena, (size_t) p->n_links, sizeof *p->model_links);
    if (!p->model_links)
        return mo_fail_memory(err);
    for (int i = 0; i < p->n_links; i++) {
        const char *from = name_model(&last_from, p->links[i].from);
        const char *to = name_model(&last_to, p->links[i].to);
        mo_profile_link *link = &p->model_links[p->n_model_links];

        if (!from || !to)
            continue;
        *link = p->links[i];
        link->from = from;
        link->to = to;
        p->n_model_links++;
    }
    return sort_links(p->model_links, p->n_model_links, err);
}

static void *copy(mo_arena *arena, const void *items, size_t n, size_t size)
{
    void *copied = mo_arena_array(arena, n, size);

    if (copied && n > 0)
        memcpy(copied, items, n * size);
    return copied;
}

static mo_status copy_rows(const mo_profile_builder *builder, mo_profile *p,
                           mo_error *err)
{
    p->ops = copy(p->arena, builder->ops, builder->n_ops, sizeof *builder->ops);
    p->n_ops = (int) builder->n_ops;
    p->links = copy(p->arena, builder->links, builder->n_links,
                    sizeof *builder->links);
    p->n_links = (int) builder->n_links;
    p->rates = copy(p->arena, builder->rates, builder->n_rates,
                    sizeof *builder->rates);
    p->n_rates = (int) builder->n_rates;
    if (!p->ops || !p->links || !p->rates)
        return mo_fail_memory(err);
    return MO_OK;
}

mo_status mo_profile_builder_finish(mo_profile_builder *builder,
                                    const char *file, mo_profile **profile,
                                    mo_error *err)
{
    mo_profile *made;
    mo_status status;

    if (builder->n_ops == 0 && builder->n_links == 0 && builder->n_rates == 0)
        return mo_fail(err, MO_E_INPUT,
                       "has no <op>, no <link> and no <rate>; a profile needs "
                       "one at least");
    made = mo_arena_alloc(builder->arena, sizeof *made);
    if (!made)
        return mo_fail_memory(err);
    made->arena = builder->arena;
    made->host = builder->host;
    made->emulated = builder->emulated;
    made->in_flight = builder->in_flight;
    made->overhead_us = builder->overhead_us;
    made->copy_gbs = builder->copy_gbs;
    made->host_request_us = builder->host_request_us;
    made->host_transfer_us = builder->host_transfer_us;
    made->parts_slowdown = builder->parts_slowdown;
    made->parts_overhead_us = builder->parts_overhead_us;
    made->file = mo_arena_text(made->arena, file, strlen(file));
    status = made->file ? copy_rows(builder, made, err) : mo_fail_memory(err);
    if (status == MO_OK)
        status = sort_ops(made->ops, made->n_ops, err);
    if (status == MO_OK)
        status = sort_links(made->links, made->n_links, err);
    if (status == MO_OK)
        status = sort_rates(made->rates, made->n_rates, err);
    if (status == MO_OK) {
        model_name last = { NULL, NULL };

        made->model_ops = mo_arena_array(made->arena, (size_t) made->n_ops,
                                         sizeof *made->model_ops);
        if (!made->model_ops) {
            status = mo_fail_memory(err);
        } else {
            for (int i = 0; i < made->n_ops; i++) {
                const char *model = name_model(&last, made->ops[i].device);

                if (!model)
                    continue;
                made->model_ops[made->n_model_ops] = made->ops[i];
                made->model_ops[made->n_model_ops++].device = model;
            }
            status = sort_ops(made->model_ops, made->n_model_ops, err);
        }
    }
    if (status == MO_OK)
        status = add_model_links(made, err);
    if (status != MO_OK)
        return status;
    builder->arena = NULL;
    *profile = made;
    return MO_OK;
}
