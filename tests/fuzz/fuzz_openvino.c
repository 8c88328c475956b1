/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzer of ingest/openvino.h: any bytes give a graph or an error. */
#include <assert.h>
#include <stdint.h>

#include "ingest/openvino.h"
#include "ingest/work.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *shapes[] = { "x=2,3" }, *values[] = { "0=2" };
    static const mo_read_options options[] = {
        { .shapes = { 0 } },
        { .shapes = { .items = shapes, .count = 1 } },
        { .values = { .items = values, .count = 1 } }
    };

    for (int i = 0; i < 3; i++) {
        mo_graph *g = NULL;
        mo_error err = { 0 };
        mo_status status = mo_openvino_read_memory(
            "fuzz.xml", (const char *) data, size, &options[i], &g, &err);

        assert(status == MO_OK ? g != NULL : !g && err.text[0] != '\0');
        if (g)
            assert(mo_work_fill(g, &err) == MO_OK);
        mo_graph_free(g);
    }
    return 0;
}
