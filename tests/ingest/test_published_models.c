/* SPDX-License-Identifier: Apache-2.0 */
/* tags: no-valgrind */
/*
 * Tests of ingest/read.h with published networks, as OpenVINO exports them:
 * they load whole, with the ops, the arithmetic and the weights given by their
 * authors and the literature. The files are in the folder MOIRAI_DATA.
 */
#include <stdio.h>
#include <string.h>

#include "graph/build.h"
#include "graph/cut.h"
#include "graph/summary.h"
#include "ingest/read.h"
#include "tests/support/suite.h"
#include "ingest/operator.h"

static const char *data;

static mo_graph *load(const char *name)
{
    char path[1000];
    mo_graph *g;
    const mo_read_format *format;

    snprintf(path, sizeof path, "%s/%s", data, name);
    MUST(mo_read_graph(path, NULL, &g, &format, &err));
    ck_assert_str_eq(format->root, "net");
    return g;
}

static bool is_boundary(const mo_op *op)
{
    return strcmp(op->type, "Parameter") == 0 ||
           strcmp(op->type, "Result") == 0;
}

/* The subgraph that computes: without constants, Parameters and Results. */
static mo_graph *inner_graph(const mo_graph *g)
{
    mo_builder *b;
    mo_graph *inner;
    mo_op *op;
    int slot, number;

    MUST(mo_builder_new(NULL, &b, &err));
    for (int i = 0; i < g->n_ops; i++) {
        const char *name = g->ops[i].name;

        if (is_boundary(&g->ops[i]))
            continue;
        MUST(mo_builder_slot(b, name, strlen(name), 0, &slot, &err));
        MUST(mo_builder_define(b, slot, 0, &op, &err));
    }
    for (int e = 0; e < g->n_edges; e++) {
        const mo_op *from = &g->ops[g->edges[e].from];
        const mo_op *to = &g->ops[g->edges[e].to];
        mo_builder_edge edge = { .src_port = MO_PORT_NONE,
                                 .dst_port = MO_PORT_NONE };

        if (is_boundary(from) || is_boundary(to))
            continue;
        MUST(mo_builder_slot(b, from->name, strlen(from->name), 0, &edge.from,
                             &err));
        MUST(mo_builder_slot(b, to->name, strlen(to->name), 0, &edge.to, &err));
        MUST(mo_builder_add_edge(b, &edge, &number, &err));
    }
    MUST(mo_builder_finish(b, &inner, &err));
    mo_operator_resolve(inner);
    mo_builder_free(b);
    return inner;
}

static const struct {
    const char *file;
    int ops, cuts, segment;
} counts[] = {
    { "openvino/bert_base_128.xml", 293, 53, 17 },
    { "openvino/gpt2_512.xml", 284, 30, 19 },
    { "openvino/swin_t.xml", 411, 44, 28 },
    { "openvino/resnet50.xml", 176, 40, 10 },
    { "openvino/googlenet.xml", 197, 26, 19 },
    { "openvino/mobilenet_v3_large.xml", 186, 64, 14 },
    { "openvino/esmfold_trunk4_64.xml", 583, 14, 444 },
};

START_TEST(what_computes_is_counted_right)
{
    mo_graph *g = load(counts[_i].file);
    mo_graph *inner = inner_graph(g);
    mo_summary summary;

    MUST(mo_summary_make(inner, &summary, &err));
    ck_assert_msg(summary.ops == counts[_i].ops &&
                      summary.clean_cuts == counts[_i].cuts &&
                      summary.largest_segment == counts[_i].segment,
                  "%s: %d ops, %d cuts, segment of %d", counts[_i].file,
                  summary.ops, summary.clean_cuts, summary.largest_segment);
    mo_summary_clear(&summary);
    mo_graph_free(inner);
    mo_graph_free(g);
}
END_TEST

/* GFLOP: twice the multiply-adds of the literature (torchvision's model pages;
 * for BERT and GPT-2 by hand).  Parameters in millions, likewise. */
static const struct {
    const char *file;
    double gflop, million_weights;
} sizes[] = {
    { "openvino/resnet50.xml", 8.18, 25.56 },
    { "openvino/googlenet.xml", 3.00, 6.62 },
    { "openvino/mobilenet_v3_large.xml", 0.44, 5.48 },
    { "openvino/swin_t.xml", 8.98, 28.29 },
    /* 12 layers of 128 tokens, 768 wide: 2 * 128 * 12 * 768^2 for the dense
     * layers and 4 * 128^2 * 768 for the attention, each. */
    { "openvino/bert_base_128.xml", 22.35, 109.5 },
    /* The same with 512 tokens, and 2 * 512 * 768 * 50257 for the logits. */
    { "openvino/gpt2_512.xml", 136.2, 124.4 },
};

START_TEST(work_and_weights_agree_with_the_literature)
{
    mo_graph *g = load(sizes[_i].file);
    mo_summary summary;
    double gflop, weights;

    MUST(mo_summary_make(g, &summary, &err));
    gflop = summary.flops / 1e9;
    weights = (double) summary.weight_bytes / 4e6;
    ck_assert_msg(gflop > 0.95 * sizes[_i].gflop &&
                      gflop < 1.05 * sizes[_i].gflop,
                  "%s: %g GFLOP", sizes[_i].file, gflop);
    ck_assert_msg(weights > 0.95 * sizes[_i].million_weights &&
                      weights < 1.05 * sizes[_i].million_weights,
                  "%s: %g million weights", sizes[_i].file, weights);
    mo_summary_clear(&summary);
    mo_graph_free(g);
}
END_TEST

static const char *const all[] = {
    "openvino/bert_base_128.xml",
    "openvino/esmfold_trunk4_64.xml",
    "openvino/googlenet.xml",
    "openvino/gpt2_512.xml",
    "openvino/mobilenet_v3_large.xml",
    "openvino/resnet50.xml",
    "openvino/swin_t.xml",
    "runnable/small_bert/model.xml",
    "runnable/small_gpt2/model.xml",
    "runnable/small_regnet/model.xml",
    "runnable/small_swin/model.xml",
    "runnable/small_trunk/model.xml",
    "runnable/squeezenet1_1/model.xml",
};

START_TEST(everything_about_an_op_is_known)
{
    mo_graph *g = load(all[_i]);

    for (int i = 0; i < g->n_ops; i++) {
        const mo_op *op = &g->ops[i];

        ck_assert_msg(op->flops >= 0 && op->bytes >= 0 &&
                          op->output_bytes >= 0 && op->weight_bytes >= 0 &&
                          op->memory_bytes == op->weight_bytes,
                      "%s: %s %s", all[_i], op->type, op->name);
        ck_assert_msg(strcmp(op->type, "Result") == 0 ||
                          (op->shape && op->dtype && op->attrs),
                      "%s: %s %s", all[_i], op->type, op->name);
    }
    for (int e = 0; e < g->n_edges; e++)
        ck_assert(g->edges[e].bytes > 0 && g->edges[e].dst_port >= 0);
    for (int f = 0; f < g->n_feeds; f++)
        ck_assert(g->feeds[f].bytes >= 0);
    mo_graph_free(g);
}
END_TEST

/* Every constant is available: from the file, from its value, or computed from
 * others. */
START_TEST(constants_can_be_computed)
{
    mo_graph *g = load(all[_i]);

    for (int i = g->n_ops; i < g->n_ops + g->n_constants; i++) {
        const mo_op *op = &g->ops[i];
        bool leaf = g->feed_start[i] == g->feed_start[i + 1];

        ck_assert_msg(!leaf || op->weights || strstr(op->attrs, "\"value\""),
                      "%s: %s %s", all[_i], op->type, op->name);
    }
    mo_graph_free(g);
}
END_TEST

SUITE(published_models)
{
    data = getenv("MOIRAI_DATA");
    if (!data) {
        puts("skipped: the environment has no MOIRAI_DATA");
        exit(77);
    }
    EACH(what_computes_is_counted_right, COUNT(counts));
    EACH(work_and_weights_agree_with_the_literature, COUNT(sizes));
    EACH(everything_about_an_op_is_known, COUNT(all));
    EACH(constants_can_be_computed, COUNT(all));
}
