/* SPDX-License-Identifier: Apache-2.0 */
/* moirai-zoo - writes the paper's networks as graphs. */
#include <config.h>

#include <limits.h>
#include <stdbool.h>

#include "base/option.h"
#include "base/out.h"
#include "driver/log.h"
#include "driver/suggest.h"
#include "ingest/graphml.h"
#include "ingest/zoo.h"

typedef struct settings {
    bool list;
    int64_t layers, hidden, heads; /* 0 when not given */
    int64_t tokens, batch;
    const char *dtype, *output;
    mo_driver_log logger;
} settings;

/* Sets the model's parameters, overridden by options. */
static mo_status configure_network(const settings *s, const char *name,
                                   mo_zoo_config *config, mo_error *err)
{
    static const mo_zoo_model none = { .name = "transformer" };
    const mo_zoo_model *model = name ? mo_zoo_find(name) : &none;

    if (!model)
        return mo_fail(err, MO_E_USAGE,
                       "there is no model '%s'; --list shows "
                       "those there are",
                       name);
    *config = (mo_zoo_config){
        .name = model->name,
        .layers = s->layers ? (int) s->layers : model->layers,
        .hidden = s->hidden ? (int) s->hidden : model->hidden,
        .heads = s->heads ? (int) s->heads : model->heads,
        .tokens = (int) s->tokens,
        .batch = (int) s->batch,
        .dtype = s->dtype,
    };
    if (!config->layers || !config->hidden || !config->heads)
        return mo_fail(err, MO_E_USAGE,
                       "name a model (--list shows them) or "
                       "give --layers, --hidden and --heads");
    return MO_OK;
}

static mo_status write_model(const settings *s, const char *name, mo_out *out,
                             mo_error *err)
{
    mo_zoo_config config;
    mo_graph *graph;
    double begin = mo_driver_clock_s(), built;
    mo_status status;

    if ((status = configure_network(s, name, &config, err)) != MO_OK ||
        (status = mo_zoo_build(&config, &graph, err)) != MO_OK)
        return status;
    built = mo_driver_clock_s();
    mo_driver_log_info(&s->logger, "built %d ops and %d edges in %.2f s",
                       graph->n_ops, graph->n_edges, built - begin);
    mo_graphml_write(graph, out);
    mo_driver_log_info(&s->logger, "wrote them in %.2f s",
                       mo_driver_clock_s() - built);
    mo_graph_free(graph);
    return MO_OK;
}

static mo_status run_zoo(void *context, char **operands, size_t n_operands,
                         mo_error *err)
{
    const settings *s = context;
    const char *name = n_operands > 0 ? operands[0] : NULL;
    mo_out *out;
    mo_status status = mo_out_open(s->output, &out, err);

    if (status != MO_OK)
        return status;
    if (s->list) {
        mo_out_printf(out, "%-16s %6s %6s %5s %6s  %s\n", "name", "layers",
                      "hidden", "heads", "ops", "model");
        for (const mo_zoo_model *m = mo_zoo_models; m->name; m++)
            mo_out_printf(out, "%-16s %6d %6d %5d %6d  %s\n", m->name,
                          m->layers, m->hidden, m->heads, m->ops, m->title);
    } else
        status = write_model(s, name, out, err);
    if (status == MO_OK)
        return mo_out_commit(out, err);
    mo_out_abandon(out);
    return status;
}

int main(int argc, char **argv)
{
    settings s = { .tokens = 512,
                   .batch = 1,
                   .dtype = "f32",
                   .logger = { .command = "moirai-zoo" } };
    const mo_option options[] = {
        { 0, "list", NULL, "list the models and exit", MO_OPTION_FLAG,
          .to = &s.list },
        { 0, "layers", "N", "layers of the stack", MO_OPTION_INT,
          .to = &s.layers, .min = 1, .max = INT_MAX },
        { 0, "hidden", "N", "hidden size, a multiple of the heads",
          MO_OPTION_INT, .to = &s.hidden, .min = 1, .max = INT_MAX },
        { 0, "heads", "N", "attention heads of a layer", MO_OPTION_INT,
          .to = &s.heads, .min = 1, .max = INT_MAX },
        { 0, "tokens", "N", "sequence length (default 512)", MO_OPTION_INT,
          .to = &s.tokens, .min = 1, .max = INT_MAX },
        { 0, "batch", "N", "batch size (default 1)", MO_OPTION_INT,
          .to = &s.batch, .min = 1, .max = INT_MAX },
        { 0, "dtype", "TYPE", "type of weights and tensors (default f32)",
          MO_OPTION_TEXT, .to = &s.dtype, .choices = "f32|f16|bf16" },
        { 'o', "output", "FILE", "write to FILE instead of standard output",
          MO_OPTION_TEXT, .to = &s.output },
        MO_DRIVER_LOG_OPTIONS(&s.logger),
        { 0 }
    };
    const mo_command command = {
        .name = "moirai-zoo",
        .synopsis = "[OPTION]... [NAME]",
        .purpose = "Write one of the paper's networks as a GraphML graph.",
        .details = "Without NAME, --layers, --hidden and --heads define the "
                   "network.",
        .options = options,
        .min_operands = 0,
        .max_operands = 1,
        .suggest = mo_suggest_zoo,
        .no_files = true,
    };

    return mo_command_main(&command, argc, argv, run_zoo, &s);
}
