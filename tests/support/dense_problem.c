/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/dense_problem.h"

#include <stdlib.h>

#include "base/out.h"
#include "tests/support/graphs.h"
#include "tests/support/suite.h"
#include "tests/support/text.h"

enum { MOST_BYTES = 9 }; /* of an op, in thousands */

typedef struct crowd {
    test_random random;
    int n_ops, n_devices;
} crowd;

static int below(crowd *c, int bound)
{
    return random_below(&c->random, bound);
}

static void put_op(crowd *c, mo_out *out, int op)
{
    int memory = 1 + below(c, MOST_BYTES), weight = below(c, memory + 1);

    mo_out_printf(out, "n%d", op);
    for (int k = 0; k < c->n_devices; k++)
        mo_out_printf(out, " t.d%d=%d", k,
                      below(c, 4) == 0 ? 0 : 1 + below(c, 20));
    mo_out_printf(out, " weight_bytes=%d workspace_bytes=%d", 1000 * weight,
                  1000 * (memory - weight));
    if (below(c, 12) == 0)
        mo_out_printf(out, " pin=d%d", below(c, c->n_devices));
    else if (below(c, 8) == 0)
        mo_out_printf(out, " colocate=g%d", below(c, 3));
    mo_out_char(out, ';');
}

static void put_inputs(crowd *c, mo_out *out, int op)
{
    int window = op < 8 ? op : 8;

    for (int e = below(c, 4); e > 0 && op > 0; e--)
        mo_out_printf(out, "n%d>n%d bytes=%d src_port=%d;",
                      op - 1 - below(c, window), op,
                      below(c, 4) == 0 ? 0 : 1000 * below(c, 9), below(c, 2));
}

static char *crowd_graph(crowd *c)
{
    mo_out *out;

    MUST(mo_out_memory(&out, &err));
    for (int i = 0; i < c->n_ops; i++) {
        put_op(c, out, i);
        put_inputs(c, out, i);
    }
    return text_end(out);
}

/* A device has room for all ops, for any single one but hardly for its share,
 * or for about twice that. */
static char *crowd_cluster(crowd *c)
{
    int share = c->n_ops * (MOST_BYTES + 1) / 2 / c->n_devices + MOST_BYTES;
    int size = below(c, 3), latency = below(c, 2);
    mo_out *out;

    MUST(mo_out_memory(&out, &err));
    for (int k = 0; k < c->n_devices; k++) {
        mo_out_printf(out, "d%d", k);
        if (size > 0)
            mo_out_printf(out, " memory_bytes=%d", 1000 * share * size);
        mo_out_char(out, ';');
    }
    for (int k = 0; k + 1 < c->n_devices; k++)
        mo_out_printf(out, "d%d-d%d gbps=%d latency_us=%d;", k, k + 1,
                      1 + below(c, 8), latency);
    return text_end(out);
}

void crowd_make(problem *p, unsigned seed)
{
    crowd c = { .random = { seed * UINT64_C(0xd1342543de82ef95) } };
    char *graph, *cluster;

    c.n_ops = 10 + below(&c, 51);
    c.n_devices = 2 + below(&c, 4);
    graph = crowd_graph(&c);
    cluster = crowd_cluster(&c);
    problem_make(p, graph, cluster, NULL);
    free(graph);
    free(cluster);
}
