/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzer of ingest/hf: a config.json and, behind a zero byte, the header of a
 * safetensors file give a graph or an error. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/hf/hf_model.h"
#include "ingest/llm/llm_graph.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static mo_status make(const char *config, const char *header, size_t size,
                      mo_graph **g, mo_error *err)
{
    mo_hf_model made = { .arena = NULL };
    mo_llm_options lengths;
    mo_status status = mo_hf_model_init(&made, err);

    if (status == MO_OK)
        status = mo_hf_header_parse("fuzz.safetensors", header, size,
                                    &made.tensors, err);
    if (status == MO_OK)
        status =
            mo_hf_model_make("config.json", config, strlen(config), &made, err);
    if (status == MO_OK)
        status = mo_llm_options_read(NULL, &made.model, &lengths, err);
    if (status == MO_OK)
        status = mo_llm_graph_make(&made.model, &lengths, g, err);
    if (status == MO_E_SUPPORT && made.model.tensors)
        status = mo_hf_model_by_layer(&made, err);
    if (status == MO_OK && !*g)
        status = mo_llm_graph_make(&made.model, &lengths, g, err);
    mo_hf_model_clear(&made);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 2);
    mo_graph *g = NULL;
    mo_error err = { 0 };
    const char *header;
    mo_status status;

    assert(text);
    if (size > 0)
        memcpy(text, data, size);
    text[size] = text[size + 1] = '\0';
    header = text + strlen(text) + 1;
    status = make(text, header,
                  header < text + size ? (size_t) (text + size - header) : 0,
                  &g, &err);
    assert(status == MO_OK ? g != NULL : !g && err.text[0] != '\0');
    assert(!strchr(err.text, '\n'));
    for (int op = 0; g && op < g->n_ops; op++)
        assert(g->ops[op].flops >= 0 && g->ops[op].bytes >= 0 &&
               g->ops[op].memory_bytes >= 0 && g->ops[op].weight_bytes >= 0);
    mo_graph_free(g);
    free(text);
    return 0;
}
