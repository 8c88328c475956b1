/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "models/frame/frame_internal.h"

/*
 * Two devices are equal when exchanging their names leaves the instance as it
 * is: times of all ops, room, what is sent to and from them, and to whom.  That
 * is an equivalence, so a device need be compared with one of each class only.
 *
 * With congestion by link, routes have to be exchanged, too, and with them the
 * links: what the exchange does to the links of one route, step by step, it
 * must do to them in all routes.
 */
struct twins {
    const mo_frame *f;
    bool *is_pinned; /* by device: some op is pinned to it */
    int *uses;       /* by link: routes that take it */
    int *own;        /* of these, the ones from or to the two devices */
    int *image;      /* by link: what the exchange makes of it, or -1 */
};

static int exchanged(int device, int a, int b)
{
    return device == a ? b : device == b ? a : device;
}

static bool same_times(const mo_instance *x, int a, int b)
{
    for (int i = 0; i < x->n; i++)
        if (mo_instance_p_ns(x, i, a) != mo_instance_p_ns(x, i, b))
            return false;
    return true;
}

static bool same_kind(const mo_instance *x, int kind, int other)
{
    for (int64_t row = 0; row < x->n_comm_rows && kind != other; row++)
        if (x->comm_ns[row * x->n_kinds + kind] !=
            x->comm_ns[row * x->n_kinds + other])
            return false;
    return true;
}

static bool same_transfers(const mo_instance *x, int a, int b)
{
    int n = x->n_devices;

    for (int c = 0; c < n; c++) {
        int d = exchanged(c, a, b);
        if (!same_kind(x, x->pair_kind[a * n + c], x->pair_kind[b * n + d]) ||
            !same_kind(x, x->pair_kind[c * n + a], x->pair_kind[d * n + b]))
            return false;
    }
    return true;
}

/* Notes what the exchange does to the links from one device to another; false
 * when that contradicts what it did elsewhere. */
static bool exchange_route(struct twins *t, int pair, int image_pair)
{
    const mo_instance *x = t->f->x;
    int first = x->route_start[pair], image = x->route_start[image_pair];
    int length = x->route_start[pair + 1] - first;

    if (x->route_start[image_pair + 1] - image != length)
        return false;
    for (int h = 0; h < length; h++) {
        int link = x->route_link[first + h];
        t->own[link]++;
        if (t->image[link] < 0)
            t->image[link] = x->route_link[image + h];
        if (t->image[link] != x->route_link[image + h])
            return false;
    }
    return true;
}

/* All routes from and to a and b, each once. */
static bool exchange_routes(struct twins *t, int a, int b)
{
    int n = t->f->x->n_devices;

    for (int c = 0; c < n; c++) {
        int d = exchanged(c, a, b);
        if (!exchange_route(t, a * n + c, b * n + d) ||
            !exchange_route(t, b * n + c, a * n + d))
            return false;
        if (c != a && c != b &&
            (!exchange_route(t, c * n + a, c * n + b) ||
             !exchange_route(t, c * n + b, c * n + a)))
            return false;
    }
    return true;
}

/* A link that others take, too, must stay what it is. */
static bool same_links(struct twins *t, int a, int b)
{
    int n_links = t->f->x->n_links;

    for (int l = 0; l < n_links; l++) {
        t->own[l] = 0;
        t->image[l] = -1;
    }
    if (!exchange_routes(t, a, b))
        return false;
    for (int l = 0; l < n_links; l++)
        if (t->own[l] > 0 && t->own[l] < t->uses[l] && t->image[l] != l)
            return false;
    return true;
}

static bool are_equal(struct twins *t, int a, int b)
{
    const mo_instance *x = t->f->x;

    return !t->is_pinned[a] && !t->is_pinned[b] &&
           x->capacity_bytes[a] == x->capacity_bytes[b] &&
           same_times(x, a, b) && same_transfers(x, a, b) &&
           (t->f->regime.congestion != MO_CONGESTION_LINK ||
            same_links(t, a, b));
}

/* The first device that is equal to k, itself if there is no other. */
static int find_first(struct twins *t, const int *first, int k)
{
    for (int other = 0; other < k; other++)
        if (first[other] == other && are_equal(t, other, k))
            return other;
    return k;
}

static void note_pins_and_uses(struct twins *t)
{
    const mo_instance *x = t->f->x;
    int n_pairs = x->n_devices * x->n_devices;

    for (int i = 0; i < x->n; i++)
        if (x->pin[i] != MO_FREE)
            t->is_pinned[x->pin[i]] = true;
    for (int h = 0; h < x->route_start[n_pairs]; h++)
        t->uses[x->route_link[h]]++;
}

/* first and last are by device, for classes by their first one. */
static void link_twins(struct twins *t, int *first, int *last, int *twin)
{
    for (int k = 0; k < t->f->x->n_devices; k++) {
        first[k] = find_first(t, first, k);
        twin[k] = first[k] == k ? MO_FREE : last[first[k]];
        last[first[k]] = k;
    }
}

mo_status mo_frame_find_symmetric_devices(mo_frame *f, mo_error *err)
{
    size_t n_devices = (size_t) f->x->n_devices + 1;
    size_t n_links = (size_t) f->x->n_links + 1;
    struct twins t = { .f = f };
    int *first = calloc(n_devices, sizeof *first);
    int *last = calloc(n_devices, sizeof *last);
    mo_status status = MO_OK;

    t.is_pinned = calloc(n_devices, sizeof *t.is_pinned);
    t.uses = calloc(n_links, sizeof *t.uses);
    t.own = calloc(n_links, sizeof *t.own);
    t.image = calloc(n_links, sizeof *t.image);
    if (first && last && t.is_pinned && t.uses && t.own && t.image) {
        note_pins_and_uses(&t);
        link_twins(&t, first, last, f->twin);
    } else {
        status = mo_fail_memory(err);
    }
    free(t.image);
    free(t.own);
    free(t.uses);
    free(t.is_pinned);
    free(last);
    free(first);
    return status;
}
