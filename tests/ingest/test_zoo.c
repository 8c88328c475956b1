/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of ingest/zoo.h, against the paper's counts and a layer computed by
 * hand. */
#include "ingest/zoo.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/out.h"
#include "graph/build.h"
#include "graph/cut.h"
#include "ingest/graphml.h"
#include "ingest/operator.h"
#include "ingest/work.h"
#include "tests/support/suite.h"

/* hidden 4 in 2 heads of 2, a feed-forward part of 16, 3 tokens. */
static const mo_zoo_config tiny = { "tiny", 1, 4, 2, 3, 1, "f32" };

static mo_graph *build(const mo_zoo_config *config)
{
    mo_graph *g = NULL;

    MUST(mo_zoo_build(config, &g, &err));
    return g;
}

static const mo_op *find(const mo_graph *g, const char *name)
{
    int id = mo_graph_find(g, name);

    ck_assert_msg(id >= 0, "there is no op %s", name);
    return &g->ops[id];
}

static const struct {
    const char *name;
    int ops;
} counts[] = {
    { "swin-1.8b", 6496 },        { "swin-6.6b", 14352 },
    { "swin-13b", 22120 },        { "gpt3-330m", 4872 },
    { "gpt3-1.3b", 9480 },        { "gpt3-2.7b", 12640 },
    { "gpt3-13b", 19640 },        { "alphafold2-87m", 5136 },
    { "alphafold2-930m", 12992 }, { "alphafold2-2.4b", 37920 },
    { "alphafold2-3.2b", 50560 },
};

START_TEST(models_have_the_papers_counts)
{
    const mo_zoo_model *m = mo_zoo_find(counts[_i].name);
    mo_zoo_config config = { "model", 0, 0, 0, 512, 1, "f32" };
    mo_graph *g;

    ck_assert_ptr_nonnull(m);
    ck_assert_int_eq(m->ops, counts[_i].ops);
    config.layers = m->layers;
    config.hidden = m->hidden;
    config.heads = m->heads;
    g = build(&config);
    ck_assert_int_eq(g->n_ops, counts[_i].ops);
    ck_assert_int_eq(g->n_constants, 0);
    mo_graph_free(g);
}
END_TEST

START_TEST(the_list_has_these_models_and_no_others)
{
    int n = 0;

    while (mo_zoo_models[n].name)
        n++;
    ck_assert_int_eq(n, COUNT(counts));
    ck_assert_ptr_null(mo_zoo_find("gpt3"));
    ck_assert_ptr_null(mo_zoo_find(""));
}
END_TEST

static const struct {
    const char *name, *type, *shape;
    double flops, bytes;
    int output_bytes, weight_bytes;
    const char *attrs;
} layer[] = {
    { "l0_ln1", "LayerNormalization", "1,3,4", 96, 128, 48, 32,
      "{\"axis\":\"-1\",\"epsilon\":\"1e-05\",\"weights\":\"1:4;2:4\","
      "\"network_input\":\"0:1,3,4\"}" },
    { "l0_h0_q", "MatMul", "1,3,2", 48, 104, 24, 32,
      "{\"weights\":\"1:4,2\"}" },
    { "l0_h0_q_bias", "Add", "1,3,2", 6, 56, 24, 8, "{\"weights\":\"1:2\"}" },
    { "l0_h1_k", "MatMul", "1,3,2", 48, 104, 24, 32,
      "{\"weights\":\"1:4,2\"}" },
    { "l0_h1_k_bias", "Add", "1,3,2", 6, 56, 24, 8, "{\"weights\":\"1:2\"}" },
    { "l0_h0_v", "MatMul", "1,3,2", 48, 104, 24, 32,
      "{\"weights\":\"1:4,2\"}" },
    { "l0_h0_v_bias", "Add", "1,3,2", 6, 56, 24, 8, "{\"weights\":\"1:2\"}" },
    { "l0_h0_transpose", "Transpose", "1,2,3", 0, 48, 24, 0,
      "{\"values\":\"1:0,2,1\"}" },
    { "l0_h0_scores", "MatMul", "1,3,3", 36, 84, 36, 0, NULL },
    { "l0_h0_scale", "Multiply", "1,3,3", 9, 72, 36, 0,
      "{\"values\":\"1:0.7071067811865475\"}" },
    { "l0_h0_mask", "Add", "1,3,3", 9, 72, 36, 0, "{\"values\":\"1:causal\"}" },
    { "l0_h0_softmax", "SoftMax", "1,3,3", 45, 72, 36, 0, "{\"axis\":\"-1\"}" },
    { "l0_h0_context", "MatMul", "1,3,2", 36, 84, 24, 0, NULL },
    { "l0_concat", "Concat", "1,3,4", 0, 96, 48, 0, "{\"axis\":\"-1\"}" },
    { "l0_proj", "MatMul", "1,3,4", 96, 160, 48, 64,
      "{\"weights\":\"1:4,4\"}" },
    { "l0_proj_bias", "Add", "1,3,4", 12, 112, 48, 16,
      "{\"weights\":\"1:4\"}" },
    { "l0_add1", "Add", "1,3,4", 12, 144, 48, 0,
      "{\"network_input\":\"1:1,3,4\"}" },
    { "l0_ln2", "LayerNormalization", "1,3,4", 96, 128, 48, 32,
      "{\"axis\":\"-1\",\"epsilon\":\"1e-05\",\"weights\":\"1:4;2:4\"}" },
    { "l0_fc1", "MatMul", "1,3,16", 384, 496, 192, 256,
      "{\"weights\":\"1:4,16\"}" },
    { "l0_fc1_bias", "Add", "1,3,16", 48, 448, 192, 64,
      "{\"weights\":\"1:16\"}" },
    { "l0_gelu", "Gelu", "1,3,16", 384, 384, 192, 0,
      "{\"approximation_mode\":\"ERF\"}" },
    { "l0_fc2", "MatMul", "1,3,4", 384, 496, 48, 256,
      "{\"weights\":\"1:16,4\"}" },
    { "l0_add2", "Add", "1,3,4", 12, 144, 48, 0, NULL },
};

START_TEST(an_op_holds_what_a_hand_computes)
{
    mo_graph *g = build(&tiny);
    const mo_op *op = find(g, layer[_i].name);

    ck_assert_str_eq(op->type, layer[_i].type);
    ck_assert_str_eq(op->shape, layer[_i].shape);
    ck_assert_str_eq(op->dtype, "f32");
    ck_assert_double_eq(op->flops, layer[_i].flops);
    ck_assert_double_eq(op->bytes, layer[_i].bytes);
    ck_assert_int_eq(op->output_bytes, layer[_i].output_bytes);
    ck_assert_int_eq(op->weight_bytes, layer[_i].weight_bytes);
    ck_assert_int_eq(op->memory_bytes, layer[_i].weight_bytes);
    ck_assert_pstr_eq(op->attrs, layer[_i].attrs);
    mo_graph_free(g);
}
END_TEST

/* The inputs of each op, by port. */
static const struct {
    const char *name, *inputs;
} edges[] = {
    { "l0_ln1", "" },
    { "l0_add1", "0:l0_proj_bias" }, /* port 1: the network's input */
    { "l0_h1_q", "0:l0_ln1" },
    { "l0_h1_q_bias", "0:l0_h1_q" },
    { "l0_h1_transpose", "0:l0_h1_k_bias" },
    { "l0_h1_scores", "0:l0_h1_q_bias 1:l0_h1_transpose" },
    { "l0_h1_scale", "0:l0_h1_scores" },
    { "l0_h1_mask", "0:l0_h1_scale" },
    { "l0_h1_softmax", "0:l0_h1_mask" },
    { "l0_h1_context", "0:l0_h1_softmax 1:l0_h1_v_bias" },
    { "l0_concat", "0:l0_h0_context 1:l0_h1_context" },
    { "l0_proj", "0:l0_concat" },
    { "l0_ln2", "0:l0_add1" },
    { "l0_fc2", "0:l0_gelu" },
    { "l0_add2", "0:l0_fc2 1:l0_add1" },
    { "l1_ln1", "0:l0_add2" },
    { "l1_add1", "0:l1_proj_bias 1:l0_add2" },
    { "l1_h0_v_bias", "0:l1_h0_v" },
};

/* "0:a 1:b" for the op of that name. */
static void write_inputs(const mo_graph *g, const char *name, char *text,
                         size_t size)
{
    int op = mo_graph_find(g, name);

    ck_assert_int_ge(op, 0);
    text[0] = '\0';
    for (int i = g->in_start[op]; i < g->in_start[op + 1]; i++) {
        const mo_edge *edge = &g->edges[g->in_edges[i]];
        size_t used = strlen(text);

        snprintf(text + used, size - used, "%s%d:%s", used ? " " : "",
                 edge->dst_port, g->ops[edge->from].name);
    }
}

START_TEST(an_op_reads_what_the_layer_says)
{
    mo_zoo_config two = tiny;
    mo_graph *g;
    char text[256];

    two.layers = 2;
    g = build(&two);
    write_inputs(g, edges[_i].name, text, sizeof text);
    ck_assert_str_eq(text, edges[_i].inputs);
    mo_graph_free(g);
}
END_TEST

START_TEST(only_the_first_layer_reads_the_networks_input)
{
    mo_zoo_config three = tiny;
    mo_graph *g;

    three.layers = 3;
    g = build(&three);
    for (int i = 0; i < g->n_ops; i++) {
        const mo_op *op = &g->ops[i];
        bool reads = op->attrs && strstr(op->attrs, "network_input");
        bool must =
            strcmp(op->name, "l0_ln1") == 0 || strcmp(op->name, "l0_add1") == 0;

        ck_assert_msg(reads == must, "%s: %s", op->name, op->attrs);
        ck_assert(!op->attrs ||
                  mo_json_is_object(op->attrs, strlen(op->attrs)));
    }
    mo_graph_free(g);
}
END_TEST

START_TEST(every_edge_carries_its_producers_output)
{
    mo_graph *g = build(&tiny);

    ck_assert_int_eq(g->n_edges, 10 + 15 * tiny.heads);
    for (int e = 0; e < g->n_edges; e++)
        ck_assert_int_eq(g->edges[e].bytes,
                         g->ops[g->edges[e].from].output_bytes);
    mo_graph_free(g);
}
END_TEST

/* The whole network passes through five ops of the first layer (ln1, concat,
 * proj, proj_bias, add1: no residual jumps over them there), and through add1
 * and add2 of every other. */
START_TEST(a_stack_has_two_clean_cuts_a_layer_and_four)
{
    mo_zoo_config config = tiny;
    mo_graph *g;
    mo_dag dag;
    int *cuts, n_cuts;

    config.layers = 1 + _i;
    g = build(&config);
    dag = mo_graph_dag(g);
    MUST(mo_dag_clean_cuts(&dag, &cuts, &n_cuts, &err));
    ck_assert_int_eq(n_cuts, 2 * config.layers + 4);
    free(cuts);
    mo_graph_free(g);
}
END_TEST

/* The zoo and the operator table must count alike. The first layer is left
 * out: formulas do not include the network's input. */
START_TEST(flops_are_those_of_the_operator_table)
{
    mo_zoo_config two = tiny;
    mo_graph *g;
    double *flops;

    two.layers = 2;
    g = build(&two);
    flops = calloc((size_t) g->n_ops, sizeof *flops);
    for (int i = 0; i < g->n_ops; i++) {
        flops[i] = g->ops[i].flops;
        g->ops[i].flops = MO_UNKNOWN;
    }
    MUST(mo_work_fill(g, &err));
    for (int i = 0; i < g->n_ops; i++) {
        const mo_op *op = &g->ops[i];

        ck_assert_str_eq(mo_operator_find(op->type)->name, op->type);
        if (strncmp(op->name, "l1_", 3) == 0)
            ck_assert_msg(op->flops == flops[i], "%s: %g, not %g", op->name,
                          op->flops, flops[i]);
    }
    free(flops);
    mo_graph_free(g);
}
END_TEST

START_TEST(half_the_precision_is_half_the_bytes)
{
    mo_zoo_config half = tiny;
    mo_graph *g, *h;

    half.dtype = _i ? "bf16" : "f16";
    g = build(&tiny);
    h = build(&half);
    for (int i = 0; i < g->n_ops; i++) {
        ck_assert_str_eq(h->ops[i].dtype, half.dtype);
        ck_assert_double_eq(2 * h->ops[i].bytes, g->ops[i].bytes);
        ck_assert_int_eq(2 * h->ops[i].weight_bytes, g->ops[i].weight_bytes);
        ck_assert_int_eq(2 * h->ops[i].output_bytes, g->ops[i].output_bytes);
        ck_assert_double_eq(h->ops[i].flops, g->ops[i].flops);
    }
    mo_graph_free(h);
    mo_graph_free(g);
}
END_TEST

START_TEST(a_batch_multiplies_tensors_but_not_weights)
{
    mo_zoo_config five = tiny;
    mo_graph *g, *h;

    five.batch = 5;
    g = build(&tiny);
    h = build(&five);
    for (int i = 0; i < g->n_ops; i++) {
        ck_assert_int_eq(h->ops[i].output_bytes, 5 * g->ops[i].output_bytes);
        ck_assert_double_eq(h->ops[i].flops, 5 * g->ops[i].flops);
        ck_assert_int_eq(h->ops[i].weight_bytes, g->ops[i].weight_bytes);
    }
    ck_assert_str_eq(find(h, "l0_h0_scores")->shape, "5,3,3");
    mo_graph_free(h);
    mo_graph_free(g);
}
END_TEST

static const struct {
    mo_zoo_config config;
    const char *says;
} refused[] = {
    { { "no", 0, 4, 2, 3, 1, "f32" }, "at least 1" },
    { { "no", 1, 0, 2, 3, 1, "f32" }, "at least 1" },
    { { "no", 1, 4, -2, 3, 1, "f32" }, "at least 1" },
    { { "no", 1, 4, 2, 0, 1, "f32" }, "at least 1" },
    { { "no", 1, 4, 2, 3, INT_MIN, "f32" }, "at least 1" },
    { { "no", 1, 4, 3, 3, 1, "f32" }, "4 cannot be split into 3 heads" },
    { { "no", 1, 2, 4, 3, 1, "f32" }, "2 cannot be split into 4 heads" },
    { { "no", 1, 4, 2, 3, 1, "i4" }, "dtype 'i4'" },
    { { "no", INT_MAX, 4, 2, 3, 1, "f32" }, "more than 50000000 operators" },
    { { "no", 1, INT_MAX, INT_MAX, 3, 1, "f32" }, "more than 50000000" },
    { { "no", INT_MAX, INT_MAX, INT_MAX, 3, 1, "f32" }, "more than 50000000" },
    { { "no", 1, 4, 2, INT_MAX, 1, "f32" }, "larger than 1 TiB" },
    { { "no", 1, 4, 2, 3, INT_MAX, "f32" }, NULL }, /* 384 GiB: allowed */
    { { "no", 1, INT_MAX, 1, 1, 1, "f32" }, "larger than 1 TiB" },
    { { "no", 1, INT_MAX, 1, INT_MAX, INT_MAX, "f32" }, "larger than 1 TiB" },
};

START_TEST(numbers_that_make_no_network_are_refused)
{
    mo_error err = { 0 };
    mo_graph *g = NULL;
    mo_status status = mo_zoo_build(&refused[_i].config, &g, &err);

    if (!refused[_i].says) {
        ck_assert_int_eq(status, MO_OK);
        mo_graph_free(g);
        return;
    }
    ck_assert_int_eq(status, MO_E_USAGE);
    ck_assert_ptr_null(g);
    ck_assert_msg(strstr(err.text, refused[_i].says), "%s", err.text);
}
END_TEST

START_TEST(a_model_reads_back_as_it_was_written)
{
    mo_graph *g = build(&tiny), *again;
    uint64_t before, after;
    size_t size;
    mo_out *out;
    char *text;

    MUST(mo_out_memory(&out, &err));
    mo_graphml_write(g, out);
    text = mo_out_take(out, &size);
    mo_out_abandon(out);
    MUST(mo_graphml_read_memory("tiny", text, size, NULL, &again, &err));
    MUST(mo_graph_digest(g, &before, &err));
    MUST(mo_graph_digest(again, &after, &err));
    ck_assert(before == after);
    mo_graph_free(again);
    mo_graph_free(g);
    free(text);
}
END_TEST

SUITE(zoo)
{
    EACH(models_have_the_papers_counts, COUNT(counts));
    TEST(the_list_has_these_models_and_no_others);
    EACH(an_op_holds_what_a_hand_computes, COUNT(layer));
    EACH(an_op_reads_what_the_layer_says, COUNT(edges));
    TEST(only_the_first_layer_reads_the_networks_input);
    TEST(every_edge_carries_its_producers_output);
    EACH(a_stack_has_two_clean_cuts_a_layer_and_four, 4);
    TEST(flops_are_those_of_the_operator_table);
    EACH(half_the_precision_is_half_the_bytes, 2);
    TEST(a_batch_multiplies_tensors_but_not_weights);
    EACH(numbers_that_make_no_network_are_refused, COUNT(refused));
    TEST(a_model_reads_back_as_it_was_written);
}
