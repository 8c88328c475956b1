#include "cost/profile_build.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

struct mo_profile_builder {
    mo_arena *arena;
    const char *host;
    mo_profile_op *ops;
    size_t n_ops, ops_room;
    mo_profile_link *links;
    size_t n_links, links_room;
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

const char *mo_profile_device(const char *device)
{
    const mo_device_model *known = mo_device_find(device);

    return known ? known->name : device;
}

mo_status mo_profile_builder_op(mo_profile_builder *builder,
                                const mo_profile_op *op, mo_error *err)
{
    mo_status status;

    if (builder->n_ops == MO_MAX_PROFILE_OPS)
        return mo_fail_at(err, MO_E_LIMIT, NULL, op->line,
                          "more than %d ops; profile fewer",
                          MO_MAX_PROFILE_OPS);
    status = MO_PUSH(builder->ops, builder->n_ops, builder->ops_room, err);
    if (status != MO_OK)
        return status;
    builder->ops[builder->n_ops] = *op;
    builder->ops[builder->n_ops++].device = mo_profile_device(op->device);
    return MO_OK;
}

mo_status mo_profile_builder_link(mo_profile_builder *builder,
                                  const mo_profile_link *link, mo_error *err)
{
    mo_profile_link *added;
    mo_status status;

    if (builder->n_links == MO_MAX_PROFILE_LINKS)
        return mo_fail_at(err, MO_E_LIMIT, NULL, link->line,
                          "more than %d links; profile fewer",
                          MO_MAX_PROFILE_LINKS);
    status =
        MO_PUSH(builder->links, builder->n_links, builder->links_room, err);
    if (status != MO_OK)
        return status;
    added = &builder->links[builder->n_links++];
    *added = *link;
    added->from = mo_profile_device(link->from);
    added->to = mo_profile_device(link->to);
    return MO_OK;
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

static mo_status sort_ops(mo_profile_builder *builder, mo_error *err)
{
    if (builder->n_ops > 0)
        qsort(builder->ops, builder->n_ops, sizeof *builder->ops, compare_ops);
    for (size_t i = 1; i < builder->n_ops; i++) {
        const mo_profile_op *a = &builder->ops[i - 1], *b = &builder->ops[i];

        if (strcmp(a->device, b->device) == 0 &&
            strcmp(a->signature, b->signature) == 0)
            return mo_fail_at(err, MO_E_INPUT, NULL, b->line,
                              "'%.200s' on '%.80s' is there already, from line "
                              "%d; keep one of them",
                              b->signature, b->device, a->line);
    }
    return MO_OK;
}

static mo_status sort_links(mo_profile_builder *builder, mo_error *err)
{
    if (builder->n_links > 0)
        qsort(builder->links, builder->n_links, sizeof *builder->links,
              compare_links);
    for (size_t i = 1; i < builder->n_links; i++) {
        const mo_profile_link *a = &builder->links[i - 1];
        const mo_profile_link *b = &builder->links[i];

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

static mo_status check(mo_profile_builder *builder, mo_error *err)
{
    mo_status status;

    if (builder->n_ops == 0 && builder->n_links == 0)
        return mo_fail(err, MO_E_INPUT,
                       "has no <op> and no <link>; a profile needs one at "
                       "least");
    status = sort_ops(builder, err);
    return status == MO_OK ? sort_links(builder, err) : status;
}

static void *copy(mo_arena *arena, const void *items, size_t n, size_t size)
{
    void *copied = mo_arena_array(arena, n, size);

    if (copied && n > 0)
        memcpy(copied, items, n * size);
    return copied;
}

mo_status mo_profile_builder_finish(mo_profile_builder *builder,
                                    const char *file, mo_profile **profile,
                                    mo_error *err)
{
    mo_arena *arena = builder->arena;
    mo_status status = check(builder, err);
    mo_profile *made;

    if (status != MO_OK)
        return status;
    made = mo_arena_alloc(arena, sizeof *made);
    if (!made)
        return mo_fail_memory(err);
    made->host = builder->host;
    made->file = mo_arena_text(arena, file, strlen(file));
    made->ops = copy(arena, builder->ops, builder->n_ops, sizeof *builder->ops);
    made->n_ops = (int) builder->n_ops;
    made->links =
        copy(arena, builder->links, builder->n_links, sizeof *builder->links);
    made->n_links = (int) builder->n_links;
    if (!made->file || !made->ops || !made->links)
        return mo_fail_memory(err);
    made->arena = arena;
    builder->arena = NULL;
    *profile = made;
    return MO_OK;
}
