/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzer of graph/phases.h: graphs in GraphML with zero bytes between them are
 * composed to a workload of which every op is an op of a phase or a gate, or
 * give an error. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "graph/phases.h"
#include "ingest/graphml.h"

enum { MOST_PHASES = 4 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static mo_status read_graph(const char *text, size_t length, mo_graph **g,
                            mo_error *err)
{
    mo_input *input = NULL;
    mo_status status = mo_input_memory("fuzz", text, length, &input, err);

    if (status == MO_OK)
        status = mo_graphml_read(input, NULL, g, err);
    mo_input_close(input);
    return status;
}

static void check(const mo_graph *g, int n)
{
    const mo_phases *phases = g->phases;
    int n_ops = 0;

    assert(phases->n == n);
    for (int p = 0; p < n; p++) {
        const mo_phase *phase = &phases->items[p];

        for (int i = 0; i < phase->graph->n_ops; i++) {
            int op = phase->op_of[i];

            assert(phases->phase_of[op] == p && phases->source[op] == i);
        }
        n_ops += phase->graph->n_ops;
    }
    for (int i = 0; i < g->n_ops; i++) {
        n_ops += phases->source[i] == MO_UNKNOWN;
        assert(phases->piece[i] >= 0 && phases->piece[i] < phases->n_pieces);
        assert(phases->piece[i] % n == phases->phase_of[i]);
    }
    assert(n_ops == g->n_ops);
    for (int e = 0; e < g->n_edges; e++)
        assert(phases->piece[g->edges[e].from] <=
               phases->piece[g->edges[e].to]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[MOST_PHASES] = { "p", "q", "r", "s" };
    const char *at = (const char *) data, *end = at + size;
    mo_phase phases[MOST_PHASES];
    mo_graph *g = NULL;
    mo_error err = { 0 };
    mo_status status = MO_OK;
    int n = 0;

    while (size > 0 && at < end && n < MOST_PHASES && status == MO_OK) {
        const char *stop = memchr(at, 0, (size_t) (end - at));
        size_t length = (size_t) ((stop ? stop : end) - at);

        phases[n] = (mo_phase){ .name = names[n], .weight = n + 1 };
        status = read_graph(at, length, &phases[n].graph, &err);
        n += status == MO_OK;
        at = stop ? stop + 1 : end;
    }
    if (status == MO_OK && n > 0)
        status = mo_phases_compose("fuzz", phases, n, &g, &err);
    assert(status == MO_OK || err.text[0] != '\0');
    if (g)
        check(g, n);
    else
        for (int p = 0; p < n; p++)
            mo_graph_free(phases[p].graph);
    mo_graph_free(g);
    return 0;
}
