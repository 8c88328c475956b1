/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/phase_units.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/intern.h"
#include "base/json.h"

/* First letters of keys: of an op by its name, of a fused op by its members,
 * of a colocation group. */
enum { NAME = 'n', MEMBERS = 'm', GROUP = 'g' };

typedef struct finder {
    mo_intern *keys;
    int *parent; /* by key: union-find of what shares a device */
    size_t parent_room;
    mo_arena *arena;
    mo_error *err;
} finder;

static int find_root(finder *f, int key)
{
    while (f->parent[key] != key)
        key = f->parent[key] = f->parent[f->parent[key]];
    return key;
}

static mo_status put_key(finder *f, char kind, const char *text, size_t length,
                         int *key)
{
    char *buffer = mo_arena_array(f->arena, length + 2, 1);
    size_t before = (size_t) mo_intern_count(f->keys);
    mo_status status;

    if (!buffer)
        return mo_fail_memory(f->err);
    buffer[0] = kind;
    memcpy(buffer + 1, text, length);
    status = mo_intern_put(f->keys, buffer, length + 1, key, f->err);
    if (status == MO_OK && (size_t) *key == before) {
        status = MO_ARRAY_GROW(f->parent, before, f->parent_room, f->err);
        if (status == MO_OK)
            f->parent[*key] = *key;
    }
    return status;
}

static mo_status join_key(finder *f, char kind, const char *text, size_t length,
                          int with)
{
    int key;
    mo_status status = put_key(f, kind, text, length, &key);

    if (status == MO_OK)
        f->parent[find_root(f, key)] = find_root(f, with);
    return status;
}

static mo_status join_members(finder *f, const char *members, int with)
{
    size_t length = strlen(members);
    char *name = mo_arena_array(f->arena, length + 1, 1);
    mo_json_cursor cursor;
    mo_json_member item;
    mo_status status = name ? MO_OK : mo_fail_memory(f->err);

    if (status != MO_OK || !mo_json_open(&cursor, '[', members, length))
        return status;
    while (status == MO_OK && mo_json_take_item(&cursor, &item) == 1)
        if (item.value_length >= 2 &&
            mo_json_unescape(item.value + 1, item.value_length - 2, name,
                             &length))
            status = join_key(f, NAME, name, length, with);
    return status;
}

static mo_status find_keys(finder *f, const mo_op *op, int *key, int *unit)
{
    mo_status status = put_key(f, NAME, op->name, strlen(op->name), unit);

    *key = *unit;
    if (status == MO_OK && op->members)
        status = put_key(f, MEMBERS, op->members, strlen(op->members), key);
    if (status == MO_OK && op->members)
        status = join_members(f, op->members, *unit);
    if (status == MO_OK && op->colocate)
        status = join_key(f, GROUP, op->colocate, strlen(op->colocate), *unit);
    return status;
}

mo_status mo_phase_units_make(const mo_phase *phases, int n, mo_arena *arena,
                              mo_phase_units *units, mo_error *err)
{
    finder f = { .keys = mo_intern_new(arena), .arena = arena, .err = err };
    mo_status status;

    units->key = mo_arena_array(arena, (size_t) n, sizeof *units->key);
    units->unit = mo_arena_array(arena, (size_t) n, sizeof *units->unit);
    status = f.keys && units->key && units->unit ? MO_OK : mo_fail_memory(err);
    for (int p = 0; p < n && status == MO_OK; p++) {
        const mo_graph *g = phases[p].graph;
        size_t n_ops = (size_t) g->n_ops;

        units->key[p] = mo_arena_array(arena, n_ops, sizeof **units->key);
        units->unit[p] = mo_arena_array(arena, n_ops, sizeof **units->unit);
        if (!units->key[p] || !units->unit[p])
            status = mo_fail_memory(err);
        for (int i = 0; i < g->n_ops && status == MO_OK; i++)
            status = find_keys(&f, &g->ops[i], &units->key[p][i],
                               &units->unit[p][i]);
    }
    for (int p = 0; p < n && status == MO_OK; p++)
        for (int i = 0; i < phases[p].graph->n_ops; i++)
            units->unit[p][i] = find_root(&f, units->unit[p][i]);
    units->n = f.keys ? mo_intern_count(f.keys) : 0;
    free(f.parent);
    mo_intern_free(f.keys);
    return status;
}
