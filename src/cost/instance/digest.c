/* SPDX-License-Identifier: Apache-2.0 */
/* The digest of an instance covers its numbers and the names they belong to,
 * not their origin. */
#include "base/digest.h"
#include "cost/instance/instance_internal.h"

/* In blocks of hundreds: one by one takes as long as the rest of the digest. */
static void add_ints(mo_digest *d, const int *values, size_t n)
{
    int64_t wide[256];
    size_t room = sizeof wide / sizeof *wide;

    for (size_t done = 0; done < n; done += room) {
        size_t count = n - done < room ? n - done : room;

        for (size_t i = 0; i < count; i++)
            wide[i] = values[done + i];
        mo_digest_ints(d, wide, count);
    }
}

static void add_texts(mo_digest *d, const char **texts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        mo_digest_text(d, texts[i]);
}

/* Links on all routes together above which shared ends count once. */
enum { MAX_LISTED_LINKS = 1 << 24 };

/* Where each route begins in a list of all of them, and that list. */
static void add_routes(mo_digest *d, const mo_instance *x)
{
    size_t n_pairs = (size_t) x->n_devices * (size_t) x->n_devices;
    int64_t start = 0;

    for (size_t pair = 0; pair < n_pairs; pair++) {
        mo_digest_ints(d, &start, 1);
        start += x->routing.routes[pair].n;
    }
    mo_digest_ints(d, &start, 1);
    if (start > MAX_LISTED_LINKS) {
        add_ints(d, x->routing.route_link, x->routing.n_route_links);
        return;
    }
    for (size_t pair = 0; pair < n_pairs; pair++)
        add_ints(d, x->routing.route_link + x->routing.routes[pair].first,
                 (size_t) x->routing.routes[pair].n);
}

static void add_instance(mo_digest *d, const mo_instance *x)
{
    size_t n = (size_t) x->n, k = (size_t) x->n_devices;
    int counts[] = { x->n,           x->n_devices,    x->n_flows, x->n_tensors,
                     x->comm.n_rows, x->comm.n_kinds, x->n_groups };

    add_ints(d, counts, sizeof counts / sizeof *counts);
    add_texts(d, x->op_names, n);
    add_texts(d, x->device_ids, k);
    mo_digest_ints(d, x->p_ns, n * k);
    mo_digest_ints(d, x->memory_bytes, n);
    mo_digest_ints(d, x->weight_bytes, n);
    mo_digest_ints(d, x->capacity_bytes, k);
    for (int q = 0; q < x->n_flows; q++) {
        const mo_flow *flow = &x->flows[q];
        int64_t numbers[] = { flow->from, flow->to, flow->tensor };

        mo_digest_ints(d, numbers, 3);
    }
    mo_digest_ints(d, x->tensor_bytes, (size_t) x->n_tensors);
    add_ints(d, x->comm.flow_row, (size_t) x->n_flows);
    add_ints(d, x->comm.tensor_row, (size_t) x->n_tensors);
    add_ints(d, x->comm.pair_kind, k * k);
    mo_digest_ints(d, x->comm.ns,
                   (size_t) x->comm.n_rows * (size_t) x->comm.n_kinds);
    add_ints(d, x->pin, n);
    add_ints(d, x->group, n);
    add_routes(d, x);
    if (x->load.overhead_ns) {
        mo_digest_ints(d, x->load.overhead_ns, k);
        for (size_t i = 0; i < k; i++)
            mo_digest_double(d, x->load.copy_gbs[i]);
    }
    if (mo_instance_has_host(x)) {
        const int64_t host_ns[] = { x->load.host_request_ns,
                                    x->load.host_transfer_ns };

        mo_digest_ints(d, host_ns, 2);
    }
}

mo_status mo_instance_maker_digests(mo_instance_maker *m, mo_error *err)
{
    mo_instance *x = m->x;
    mo_digest *d = mo_digest_new();
    mo_status status;

    if (!d)
        return mo_fail_memory(err);
    add_instance(d, x);
    x->digest = mo_digest_value(d);
    mo_digest_free(d);
    status = mo_graph_digest(m->g, &x->graph_digest, err);
    if (status == MO_OK)
        status = mo_cluster_digest(m->cluster, &x->cluster_digest, err);
    if (status == MO_OK && m->options->profile)
        status =
            mo_profile_digest(m->options->profile, &x->profile_digest, err);
    return status;
}
