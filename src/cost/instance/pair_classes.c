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
                          mo_instance_pair_class *cls)
{
    const mo_device *from = &m->cluster->devices[a];
    const mo_device *to = &m->cluster->devices[b];
    const mo_profile *profile = m->options->profile;
    const mo_route *route =
        &m->routes->routes[(size_t) a * (size_t) m->routes->n + (size_t) b];

    memset(cls, 0, sizeof *cls);
    cls->gbps = INFINITY;
    if (a == b)
        return;
    cls->columns[0] = find_column(m->g, from->id, to->id);
    cls->columns[1] = find_column(m->g, from->model, to->model);
    cls->columns[2] = find_column(m->g, model_of(from), model_of(to));
    cls->link = profile ? mo_profile_find_link(profile, from, to, 0) : NULL;
    cls->gbps = route->gbps;
    cls->latency_ns = route->latency_ns;
}

static mo_status number_pairs(const mo_instance_maker *m, mo_intern *seen,
                              mo_instance_pair_classes *classes, mo_error *err)
{
    int n = m->cluster->n_devices;
    mo_instance_pair_class cls;

    for (int pair = 0; pair < n * n; pair++) {
        mo_status status;

        class_of_pair(m, pair / n, pair % n, &cls);
        status = mo_intern_put(seen, (const char *) &cls, sizeof cls,
                               &classes->of_pair[pair], err);
        if (status != MO_OK)
            return status;
    }
    classes->n = mo_intern_count(seen);
    return MO_OK;
}

mo_status mo_instance_maker_pair_classes(const mo_instance_maker *m,
                                         mo_arena *arena,
                                         mo_instance_pair_classes *classes,
                                         mo_error *err)
{
    int n_pairs = m->cluster->n_devices * m->cluster->n_devices;
    mo_intern *seen = mo_intern_new(arena);
    mo_status status = MO_OK;

    classes->of_pair =
        mo_arena_array(arena, (size_t) n_pairs, sizeof *classes->of_pair);
    if (!seen || !classes->of_pair)
        status = mo_fail_memory(err);
    if (status == MO_OK)
        status = number_pairs(m, seen, classes, err);
    if (status == MO_OK) {
        size_t n = (size_t) classes->n;

        classes->classes = mo_arena_array(arena, n, sizeof *classes->classes);
        classes->example = mo_arena_array(arena, n, sizeof *classes->example);
        if (!classes->classes || !classes->example) {
            status = mo_fail_memory(err);
        } else {
            for (int c = 0; c < classes->n; c++)
                memcpy(&classes->classes[c], mo_intern_text(seen, c),
                       sizeof *classes->classes);
            for (int pair = n_pairs - 1; pair >= 0; pair--)
                classes->example[classes->of_pair[pair]] = pair;
        }
    }
    mo_intern_free(seen);
    return status;
}
