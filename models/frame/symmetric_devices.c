/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symmetry detection.  Two devices are interchangeable when exchanging their
 * names leaves the instance as it is: times of all ops, capacity, and
 * transfers to and from every other device.  That is an equivalence, so a
 * device is compared with one of each class only.
 *
 * With congestion by link, routes have to be exchanged, too, and with them the
 * links: the image of a link under the exchange must be the same in all
 * routes.
 */
#include <stdlib.h>

#include "models/frame/frame_internal.h"

struct symmetry {
    const mo_frame *f;
    bool *is_pinned; /* by device: some op is pinned to it */
    int *uses;       /* by link: routes that take it */
    int *own;        /* of these, the ones from or to the two devices */
    int *image;      /* by link: its image under the exchange, or -1 */
};

static int exchange_device(int device, int a, int b)
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

static bool same_transfer_times(const mo_instance *x, int kind, int other)
{
    for (int64_t row = 0; row < x->comm.n_rows && kind != other; row++)
        if (x->comm.ns[row * x->comm.n_kinds + kind] !=
            x->comm.ns[row * x->comm.n_kinds + other])
            return false;
    return true;
}

static bool same_transfers(const mo_instance *x, int a, int b)
{
    int n = x->n_devices;

    for (int c = 0; c < n; c++) {
        int d = exchange_device(c, a, b);
        if (!same_transfer_times(x, x->comm.pair_kind[a * n + c],
                                 x->comm.pair_kind[b * n + d]) ||
            !same_transfer_times(x, x->comm.pair_kind[c * n + a],
                                 x->comm.pair_kind[d * n + b]))
            return false;
    }
    return true;
}

/* Records the images of the links from one device to another; returns false
 * when they contradict those found before. */
static bool exchange_route(struct symmetry *t, int pair, int image_pair)
{
    const mo_instance *x = t->f->x;
    const mo_route_span *route = &x->routing.routes[pair],
                        *to = &x->routing.routes[image_pair];

    if (to->n != route->n)
        return false;
    for (int h = 0; h < route->n; h++) {
        int link = x->routing.route_link[route->first + h];
        int image = x->routing.route_link[to->first + h];

        t->own[link]++;
        if (t->image[link] < 0)
            t->image[link] = image;
        if (t->image[link] != image)
            return false;
    }
    return true;
}

/* A link that other routes use, too, must be its own image. */
static bool same_links(struct symmetry *t, int a, int b)
{
    int n_links = t->f->x->routing.n_links;

    for (int l = 0; l < n_links; l++) {
        t->own[l] = 0;
        t->image[l] = -1;
    }
    /* All routes from and to a and b, each once. */
    int n = t->f->x->n_devices;

    for (int c = 0; c < n; c++) {
        int d = exchange_device(c, a, b);
        if (!exchange_route(t, a * n + c, b * n + d) ||
            !exchange_route(t, b * n + c, a * n + d))
            return false;
        if (c != a && c != b &&
            (!exchange_route(t, c * n + a, c * n + b) ||
             !exchange_route(t, c * n + b, c * n + a)))
            return false;
    }
    for (int l = 0; l < n_links; l++)
        if (t->own[l] > 0 && t->own[l] < t->uses[l] && t->image[l] != l)
            return false;
    return true;
}

static bool are_interchangeable(struct symmetry *t, int a, int b)
{
    const mo_instance *x = t->f->x;

    return !t->is_pinned[a] && !t->is_pinned[b] &&
           x->capacity_bytes[a] == x->capacity_bytes[b] &&
           (!x->load.overhead_ns ||
            (x->load.overhead_ns[a] == x->load.overhead_ns[b] &&
             x->load.copy_gbs[a] == x->load.copy_gbs[b])) &&
           same_times(x, a, b) && same_transfers(x, a, b) &&
           (t->f->regime.congestion != MO_CONGESTION_LINK ||
            same_links(t, a, b));
}

mo_status mo_frame_find_symmetric_devices(mo_frame *f, mo_error *err)
{
    size_t n_devices = (size_t) f->x->n_devices + 1;
    size_t n_links = (size_t) f->x->routing.n_links + 1;
    struct symmetry t = { .f = f };
    int *first = calloc(n_devices, sizeof *first);
    int *last = calloc(n_devices, sizeof *last);
    mo_status status = MO_OK;

    t.is_pinned = calloc(n_devices, sizeof *t.is_pinned);
    t.uses = calloc(n_links, sizeof *t.uses);
    t.own = calloc(n_links, sizeof *t.own);
    t.image = calloc(n_links, sizeof *t.image);
    if (first && last && t.is_pinned && t.uses && t.own && t.image) {
        int n_pairs = t.f->x->n_devices * t.f->x->n_devices;

        for (int i = 0; i < t.f->x->n; i++)
            if (t.f->x->pin[i] != MO_FREE)
                t.is_pinned[t.f->x->pin[i]] = true;
        for (int pair = 0; pair < n_pairs; pair++) {
            const mo_route_span *route = &t.f->x->routing.routes[pair];

            for (int h = 0; h < route->n; h++)
                t.uses[t.f->x->routing.route_link[route->first + h]]++;
        }
        /* first and last are by device, for classes by their first one. */
        for (int k = 0; k < t.f->x->n_devices; k++) {
            first[k] = k;
            for (int other = 0; other < k && first[k] == k; other++)
                if (first[other] == other && are_interchangeable(&t, other, k))
                    first[k] = other;
            f->symmetric_to[k] = first[k] == k ? MO_FREE : last[first[k]];
            last[first[k]] = k;
        }
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

struct names {
    int *of;   /* by device of the start: its new name, or MO_FREE */
    int *next; /* by device: the next larger one equal to it, or MO_FREE */
    int *
        next_name; /* by the first device of a class: the next name to assign */
};

static int compare_transfers(const void *a, const void *b)
{
    const mo_transfer *x = a, *y = b;

    if (x->item != y->item)
        return x->item < y->item ? -1 : 1;
    return (x->to > y->to) - (x->to < y->to);
}

mo_status mo_frame_relabel_start(mo_frame *f, mo_error *err)
{
    size_t n = (size_t) f->x->n_devices + 1;
    struct names names = { calloc(n, sizeof(int)), calloc(n, sizeof(int)),
                           calloc(n, sizeof(int)) };
    mo_status status = MO_OK;

    if (names.of && names.next && names.next_name) {
        /* In each class names are assigned by first use. */
        for (int k = 0; k < f->x->n_devices; k++) {
            names.of[k] = names.next[k] = MO_FREE;
            names.next_name[k] = k;
            if (f->symmetric_to[k] != MO_FREE)
                names.next[f->symmetric_to[k]] = k;
        }
        for (int i = 0; i < f->x->n; i++) {
            int device = f->start->device[i], class;

            if (names.of[device] != MO_FREE)
                continue;
            class = device;
            while (f->symmetric_to[class] != MO_FREE)
                class = f->symmetric_to[class];
            names.of[device] = names.next_name[class];
            names.next_name[class] = names.next[names.next_name[class]];
        }
        /* Interchangeable devices have equal times: only names change. */
        for (int i = 0; i < f->start->n; i++)
            f->start->device[i] = names.of[f->start->device[i]];
        for (int t = 0; t < f->start->n_transfers; t++) {
            f->start->transfers[t].from = names.of[f->start->transfers[t].from];
            f->start->transfers[t].to = names.of[f->start->transfers[t].to];
        }
        if (f->start->n_transfers > 0)
            qsort(f->start->transfers, (size_t) f->start->n_transfers,
                  sizeof *f->start->transfers, compare_transfers);
    } else {
        status = mo_fail_memory(err);
    }
    free(names.next_name);
    free(names.next);
    free(names.of);
    return status;
}
