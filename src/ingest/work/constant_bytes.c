/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/work/constant_bytes.h"

#include <stdlib.h>

#include "base/array.h"

/* Of several sizes given for one tensor the largest comes first. */
static int compare_tensors(const void *a, const void *b)
{
    const mo_constant_bytes_tensor *x = a, *y = b;

    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->port != y->port)
        return x->port < y->port ? -1 : 1;
    return (x->bytes < y->bytes) - (x->bytes > y->bytes);
}

static bool is_same_tensor(const mo_constant_bytes_tensor *a,
                           const mo_constant_bytes_tensor *b)
{
    return a->from == b->from && a->port == b->port;
}

static int64_t sum_of(const mo_constant_bytes_tensor *tensors, size_t n)
{
    int64_t sum = 0;

    for (size_t i = 0; i < n; i++) {
        if (i > 0 && is_same_tensor(&tensors[i], &tensors[i - 1]))
            continue;
        if (tensors[i].bytes < 0 || !mo_int64_add(sum, tensors[i].bytes, &sum))
            return MO_UNKNOWN;
    }
    return sum;
}

mo_status mo_constant_bytes_sum(mo_constant_bytes *fed, const mo_graph *g,
                                int op, int64_t *sum, mo_error *err)
{
    int first = g->feed_start[op];
    size_t n = (size_t) (g->feed_start[op + 1] - first);
    mo_status status = mo_array_reserve((void **) &fed->tensors, &fed->room, n,
                                        sizeof *fed->tensors, err);

    if (status != MO_OK)
        return status;
    for (size_t i = 0; i < n; i++) {
        const mo_edge *feed = &g->feeds[(size_t) first + i];

        fed->tensors[i] = (mo_constant_bytes_tensor){
            feed->from, g->feed_port[(size_t) first + i], feed->bytes
        };
    }
    if (n > 1)
        qsort(fed->tensors, n, sizeof *fed->tensors, compare_tensors);
    *sum = sum_of(fed->tensors, n);
    return MO_OK;
}

void mo_constant_bytes_clear(mo_constant_bytes *fed)
{
    free(fed->tensors);
    *fed = (mo_constant_bytes){ 0 };
}
