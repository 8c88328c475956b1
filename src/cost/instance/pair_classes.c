/* SPDX-License-Identifier: Apache-2.0 */
/* Classes of device pairs with equal transfer times. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/intern.h"
#include "cost/instance/instance_internal.h"

/* No column has a longer key than the names of two devices. */
enum { KEY_SIZE = 1024 };

static const char *model_of(const mo_device *device)
{
    return device->known ? device->known->name : device->model;
}

static int find_column(const mo_graph *g, const char *from, const char *to)
{
    char key[KEY_SIZE];

    if (!from || !to || g->n_comm_columns == 0 ||
        snprintf(key, sizeof key, "%s.%s", from, to) >= (int) sizeof key)
        return -1;
    return mo_instance_maker_column(g->comm_columns, g->n_comm_columns, key);
}

/* Classes are compared as bytes, so padding must be zero, too. */
static void class_of_pair(const mo_instance_maker *m, int a, int b,
                          mo_instance_pair_class *kind)
{
    const mo_device *from = &m->cluster->devices[a];
    const mo_device *to = &m->cluster->devices[b];
    const mo_profile *profile = m->options->profile;
    const mo_route *route =
        &m->routes->routes[(size_t) a * (size_t) m->routes->n + (size_t) b];

    memset(kind, 0, sizeof *kind);
    kind->gbps = INFINITY;
    if (a == b)
        return;
    kind->columns[0] = find_column(m->g, from->id, to->id);
    kind->columns[1] = find_column(m->g, from->model, to->model);
    kind->columns[2] = find_column(m->g, model_of(from), model_of(to));
    kind->link = profile ? mo_profile_find_link(profile, from, to, 0) : NULL;
    kind->gbps = route->gbps;
    kind->latency_ns = route->latency_ns;
}

static mo_status number_pairs(const mo_instance_maker *m, mo_intern *seen,
                              mo_instance_pair_classes *kinds, mo_error *err)
{
    int n = m->cluster->n_devices;
    mo_instance_pair_class kind;

    for (int pair = 0; pair < n * n; pair++) {
        mo_status status;

        class_of_pair(m, pair / n, pair % n, &kind);
        status = mo_intern_put(seen, (const char *) &kind, sizeof kind,
                               &kinds->of_pair[pair], err);
        if (status != MO_OK)
            return status;
    }
    kinds->n = mo_intern_count(seen);
    return MO_OK;
}

static mo_status collect(const mo_intern *seen, int n_pairs, mo_arena *arena,
                         mo_instance_pair_classes *kinds, mo_error *err)
{
    size_t n = (size_t) kinds->n;

    kinds->kinds = mo_arena_array(arena, n, sizeof *kinds->kinds);
    kinds->example = mo_arena_array(arena, n, sizeof *kinds->example);
    if (!kinds->kinds || !kinds->example)
        return mo_fail_memory(err);
    for (int c = 0; c < kinds->n; c++)
        memcpy(&kinds->kinds[c], mo_intern_text(seen, c), sizeof *kinds->kinds);
    for (int pair = n_pairs - 1; pair >= 0; pair--)
        kinds->example[kinds->of_pair[pair]] = pair;
    return MO_OK;
}

mo_status mo_instance_maker_pair_classes(const mo_instance_maker *m,
                                         mo_arena *arena,
                                         mo_instance_pair_classes *kinds,
                                         mo_error *err)
{
    int n_pairs = m->cluster->n_devices * m->cluster->n_devices;
    mo_intern *seen = mo_intern_new(arena);
    mo_status status = MO_OK;

    kinds->of_pair =
        mo_arena_array(arena, (size_t) n_pairs, sizeof *kinds->of_pair);
    if (!seen || !kinds->of_pair)
        status = mo_fail_memory(err);
    if (status == MO_OK)
        status = number_pairs(m, seen, kinds, err);
    if (status == MO_OK)
        status = collect(seen, n_pairs, arena, kinds, err);
    mo_intern_free(seen);
    return status;
}
