/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzer of ingest/gguf.h: any bytes give a graph or an error. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "ingest/gguf.h"
#include "ingest/work.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *values[] = { "context=1000000000", "prompt=999999999" };
    static const mo_read_options options[] = {
        { .shapes = { 0 } }, { .values = { .items = values, .count = 2 } }
    };

    for (int i = 0; i < 2; i++) {
        mo_graph *g = NULL;
        mo_input *input = NULL;
        mo_error err = { 0 };
        mo_status status = mo_input_memory("fuzz.gguf", (const char *) data,
                                           size, &input, &err);

        if (status == MO_OK) {
            mo_input_accept_binary(input);
            status = mo_gguf_read(input, &options[i], &g, &err);
        }
        assert(status == MO_OK ? g != NULL : !g && err.text[0] != '\0');
        assert(!strchr(err.text, '\n'));
        if (g)
            assert(mo_work_fill(g, &err) == MO_OK);
        for (int op = 0; g && op < g->n_ops; op++)
            assert(g->ops[op].flops >= 0 && g->ops[op].bytes >= 0 &&
                   g->ops[op].memory_bytes >= 0 &&
                   g->ops[op].weight_bytes >= 0);
        mo_graph_free(g);
        mo_input_close(input);
    }
    return 0;
}
