/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/layered_problem.h"

#include <stdlib.h>

#include "tests/support/graphs.h"
#include "tests/support/text.h"

enum { MOST_BYTES = 9, MOST_OPS = 4 }; /* bytes in thousands */

typedef struct stack {
    test_random random;
    int n_layers, n_devices;
    bool alike; /* all layers have one seed */
    bool bound; /* there are pins and groups */
} stack;

static int below(stack *s, int bound)
{
    return random_below(&s->random, bound);
}

static void put_op(stack *s, mo_out *out, const char *name, int layer, int op)
{
    int memory = 1 + below(s, MOST_BYTES), weight = below(s, memory + 1);
    int fate = below(s, 16);

    mo_out_printf(out, "%s%d_%d", name, layer, op);
    for (int k = 0; k < s->n_devices; k++)
        mo_out_printf(out, " t.d%d=%d", k,
                      below(s, 5) == 0 ? 0 : 1 + below(s, 20));
    mo_out_printf(out, " weight_bytes=%d workspace_bytes=%d", 1000 * weight,
                  1000 * (memory - weight));
    if (s->bound && fate == 0)
        mo_out_printf(out, " pin=d%d", below(s, s->n_devices));
    else if (s->bound && fate < 3)
        mo_out_printf(out, " colocate=g%d", below(s, 3));
    mo_out_char(out, ';');
}

static int bytes(stack *s)
{
    return below(s, 5) == 0 ? 0 : 1000 * (1 + below(s, 12));
}

/* Between cut i and cut i + 1; an op reads the cut or one before it. */
static void put_layer(stack *s, mo_out *out, int i)
{
    int n = below(s, MOST_OPS + 1);

    for (int j = 0; j < n; j++)
        put_op(s, out, "m", i, j);
    put_op(s, out, "c", i + 1, 0);
    for (int j = 0; j < n; j++) {
        if (j > 0 && below(s, 3) == 0)
            mo_out_printf(out, "m%d_%d>m%d_%d bytes=%d src_port=%d;", i,
                          below(s, j), i, j, bytes(s), below(s, 2));
        mo_out_printf(out, "c%d_0>m%d_%d bytes=%d src_port=%d;", i, i, j,
                      bytes(s), below(s, 2));
        mo_out_printf(out, "m%d_%d>c%d_0 bytes=%d src_port=%d;", i, j, i + 1,
                      bytes(s), below(s, 2));
    }
    for (int j = below(s, 3); j > 0 || n == 0; j--, n++)
        mo_out_printf(out, "c%d_0>c%d_0 bytes=%d src_port=%d;", i, i + 1,
                      bytes(s), 2 + j);
}

static char *stack_graph(stack *s)
{
    mo_out *out = text_new();
    test_random first;

    put_op(s, out, "c", 0, 0);
    first = s->random;
    for (int i = 0; i < s->n_layers; i++) {
        if (s->alike)
            s->random = first;
        put_layer(s, out, i);
    }
    return text_end(out);
}

static char *stack_cluster(stack *s)
{
    int share = s->n_layers * MOST_OPS * MOST_BYTES / 3 / s->n_devices;
    bool tight = below(s, 3) == 0;
    mo_out *out = text_new();

    for (int k = 0; k < s->n_devices; k++) {
        mo_out_printf(out, "d%d", k);
        if (tight)
            mo_out_printf(out, " memory_bytes=%d", 1000 * (share + MOST_BYTES));
        mo_out_char(out, ';');
    }
    for (int k = 0; k + 1 < s->n_devices; k++)
        mo_out_printf(out, "d%d-d%d gbps=%d;", k, k + 1, 8 + below(s, 40));
    return text_end(out);
}

void stack_make(problem *p, unsigned seed)
{
    stack s = { .random = { seed * UINT64_C(0xd1342543de82ef95) } };
    char *graph, *cluster;

    s.n_layers = 2 + below(&s, 3);
    s.n_devices = 2 + below(&s, 2);
    s.alike = below(&s, 3) == 0;
    s.bound = below(&s, 3) == 0;
    graph = stack_graph(&s);
    cluster = stack_cluster(&s);
    problem_make(p, graph, cluster, NULL);
    free(graph);
    free(cluster);
}
