/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzer of ingest/read.h: any bytes give an error, or a graph that can be
 * written and is then read back the same.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>

#include "ingest/graphml.h"
#include "ingest/read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t digest(const mo_graph *g)
{
    uint64_t value = 0;

    if (mo_graph_digest(g, &value, NULL) != MO_OK)
        abort();
    return value;
}

static void check_round_trip(const mo_graph *g)
{
    mo_graph *again = NULL;
    mo_out *out;
    size_t size;
    char *text;

    if (mo_out_memory(&out, NULL) != MO_OK)
        abort();
    mo_graphml_write(g, out);
    text = mo_out_take(out, &size);
    mo_out_abandon(out);
    if (!text ||
        mo_read_memory("again", text, size, NULL, &again, NULL, NULL) != MO_OK)
        abort();
    if (digest(g) != digest(again))
        abort();
    mo_graph_free(again);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mo_graph *g = NULL;
    mo_error err = { 0 };
    mo_status status =
        mo_read_memory("fuzz", (const char *) data, size, NULL, &g, NULL, &err);

    if (status == MO_OK ? !g : g || err.text[0] == '\0')
        abort();
    if (g)
        check_round_trip(g);
    mo_graph_free(g);
    return 0;
}
