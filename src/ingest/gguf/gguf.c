/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/gguf.h"

#include "ingest/gguf/gguf_model.h"
#include "ingest/llm/llm_graph.h"

mo_status mo_gguf_read(mo_input *input, const mo_read_options *options,
                       mo_graph **graph, mo_error *err)
{
    mo_gguf_model gguf = { .arena = NULL };
    mo_llm_options lengths;
    mo_status status = mo_gguf_model_read(input, &gguf, err);

    if (status == MO_OK)
        status = mo_llm_options_read(options, &gguf.model, &lengths, err);
    if (status == MO_OK)
        status = mo_llm_graph_make(&gguf.model, &lengths, graph, err);
    mo_gguf_model_clear(&gguf);
    return status;
}

mo_status mo_gguf_read_phases(mo_input *input, const mo_read_options *options,
                              mo_graph *graphs[2], mo_error *err)
{
    mo_gguf_model gguf = { .arena = NULL };
    mo_llm_options lengths;
    mo_llm_decoder decoder;
    const char *name = mo_input_name(input);
    mo_status status = mo_gguf_model_read(input, &gguf, err);

    if (status == MO_OK)
        status = mo_llm_options_read(options, &gguf.model, &lengths, err);
    if (status == MO_OK)
        status = mo_gguf_decoder_read(&gguf, &decoder, err);
    if (status == MO_OK)
        status = mo_llm_decoder_make(&decoder, &lengths, graphs, err);
    if (status == MO_OK)
        status = mo_graph_set_files(graphs[0], &name, 1, err);
    if (status == MO_OK)
        status = mo_graph_set_files(graphs[1], &name, 1, err);
    mo_gguf_model_clear(&gguf);
    return status;
}

mo_status mo_gguf_summarize(mo_input *input, const mo_read_options *options,
                            mo_llm_summary *summary, mo_error *err)
{
    mo_gguf_model gguf = { .arena = NULL };
    mo_llm_options lengths;
    mo_status status = mo_gguf_model_read(input, &gguf, err);

    if (status == MO_OK)
        status = mo_llm_options_read(options, &gguf.model, &lengths, err);
    if (status == MO_OK)
        status = mo_llm_summary_make(&gguf.model, &lengths, &gguf.summary, err);
    if (status == MO_OK)
        *summary = gguf.summary;
    mo_gguf_model_clear(&gguf);
    return status;
}
