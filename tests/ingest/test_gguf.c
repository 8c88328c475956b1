/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of ingest/gguf.h: graph, byte orders, options, hostile headers. */
#include <config.h>

#include "graph/phases.h"
#include "ingest/gguf.h"

#include <string.h>

#include "ingest/llm/ggml_type.h"
#include "tests/ingest/gguf_text.h"
#include "tests/support/suite.h"

enum { F32 = 0, F16 = 1, Q4_K = 12 };

static mo_status read_with(const gguf_text *f, const char **values,
                           size_t n_values, mo_graph **g, mo_error *err)
{
    const mo_read_options options = { .values = { .items = values,
                                                  .count = n_values } };

    return mo_read_memory("a.gguf", f->data, f->size, &options, g, NULL, err);
}

static int64_t sum_weights(const mo_graph *g)
{
    int64_t sum = 0;

    for (int i = 0; i < g->n_ops; i++)
        sum += g->ops[i].weight_bytes;
    return sum;
}

static const struct {
    int version;
    bool is_big_endian;
} kinds[] = { { 2, false }, { 3, false }, { 3, true } };

START_TEST(versions_and_byte_orders_give_the_same_graph)
{
    uint64_t digests[COUNT(kinds)];

    for (int i = 0; i < COUNT(kinds); i++) {
        gguf_text f = { .is_big_endian = kinds[i].is_big_endian };
        mo_graph *g = NULL;
        mo_error err;

        gguf_decoder(&f);
        f.data[f.is_big_endian ? 7 : 4] = (char) kinds[i].version;
        ck_assert_msg(read_with(&f, NULL, 0, &g, &err) == MO_OK, "%s",
                      err.text);
        ck_assert_int_eq(sum_weights(g), N_GGUF_BYTES);
        ck_assert_int_ge(mo_graph_find(g, "blk.0.ffn_down"), 0);
        ck_assert_int_ge(mo_graph_find(g, "blk.0.attn"), 0);
        ck_assert_int_ge(mo_graph_find(g, "output"), 0);
        ck_assert_int_eq(mo_graph_digest(g, &digests[i], &err), MO_OK);
        ck_assert(digests[i] == digests[0]);
        mo_graph_free(g);
    }
}
END_TEST

/* Of 64 elements in f16 for keys and values each. */
enum { CACHE_BYTES = 4 * 64 };

START_TEST(the_cache_is_as_long_as_the_context)
{
    const char *values[] = { "context=1000", "cache=q8_0" };
    gguf_text f = { .size = 0 };
    mo_graph *g = NULL;
    mo_error err;
    int attention;

    gguf_decoder(&f);
    for (size_t n = 1; n <= 2; n++) {
        ck_assert_int_eq(read_with(&f, values, n, &g, &err), MO_OK);
        attention = mo_graph_find(g, "blk.0.attn");
        ck_assert_int_eq(g->ops[attention].memory_bytes,
                         n == 1 ? 1000 * CACHE_BYTES : 1000 * 4 * 34);
        ck_assert_double_ge(g->ops[attention].bytes,
                            (double) g->ops[attention].memory_bytes);
        mo_graph_free(g);
    }
}
END_TEST

START_TEST(a_prompt_is_computed_at_once_but_for_the_head)
{
    const char *values[] = { "prompt=10" };
    gguf_text f = { .size = 0 };
    mo_graph *one = NULL, *many = NULL;
    mo_error err;

    gguf_decoder(&f);
    ck_assert_int_eq(read_with(&f, NULL, 0, &one, &err), MO_OK);
    ck_assert_int_eq(read_with(&f, values, 1, &many, &err), MO_OK);
    ck_assert_int_eq(one->n_ops, many->n_ops);
    for (int i = 0; i < one->n_ops; i++) {
        double times = many->ops[i].flops / one->ops[i].flops;

        if (strcmp(one->ops[i].type, "MatMul") == 0)
            ck_assert_double_eq(
                times, strcmp(one->ops[i].name, "output") == 0 ? 1 : 10);
        if (strcmp(one->ops[i].name, "output") != 0)
            ck_assert_int_eq(many->ops[i].output_bytes,
                             one->ops[i].output_bytes * 10);
        ck_assert_int_eq(one->ops[i].weight_bytes, many->ops[i].weight_bytes);
    }
    mo_graph_free(one);
    mo_graph_free(many);
}
END_TEST

/* Weights and cache count once, and the cache has room for the context. */
START_TEST(prompt_and_answer_are_a_workload)
{
    const char *values[] = { "prompt=10,generate=7", "context=100" };
    gguf_text f = { .size = 0 };
    mo_graph *one = NULL, *g = NULL;
    const mo_phase *phases;
    mo_error err;
    int64_t bytes = 0;

    gguf_decoder(&f);
    ck_assert_int_eq(read_with(&f, &values[1], 1, &one, &err), MO_OK);
    ck_assert_int_eq(read_with(&f, values, 2, &g, &err), MO_OK);
    phases = g->phases->items;
    ck_assert_int_eq(g->phases->n, 2);
    ck_assert_str_eq(phases[0].name, "prefill");
    ck_assert_int_eq(phases[0].weight, 1);
    ck_assert_str_eq(phases[1].name, "decode");
    ck_assert_int_eq(phases[1].weight, 7);
    for (int i = 0; i < g->n_ops; i++)
        bytes += g->ops[i].memory_bytes;
    for (int i = 0; i < one->n_ops; i++) {
        bytes -= one->ops[i].memory_bytes;
        /* 13 of the 100 tokens of the cache are read. */
        if (strcmp(one->ops[i].name, "blk.0.attn") == 0)
            ck_assert_double_eq(one->ops[i].bytes -
                                    phases[1].graph->ops[i].bytes,
                                (100 - 13) * CACHE_BYTES);
    }
    ck_assert_int_eq(bytes, 0);
    mo_graph_free(one);
    mo_graph_free(g);
}
END_TEST

START_TEST(a_whole_layer_is_one_group)
{
    const char *values[] = { "layers=whole" };
    gguf_text f = { .size = 0 };
    mo_graph *g = NULL;
    mo_error err;

    gguf_decoder(&f);
    ck_assert_int_eq(read_with(&f, values, 1, &g, &err), MO_OK);
    for (int i = 0; i < g->n_ops; i++)
        if (strncmp(g->ops[i].name, "blk.0.", 6) == 0)
            ck_assert_str_eq(g->ops[i].colocate, "blk.0");
        else
            ck_assert_ptr_null(g->ops[i].colocate);
    mo_graph_free(g);
}
END_TEST

static const struct {
    const char *value, *fault;
} wrong_values[] = {
    { "context=0", "is no number of tokens" },
    { "context=many", "is no number of tokens" },
    { "prompt=5000", NULL },
    { "generate=0", "is no number of tokens" },
    { "generate=8", "needs the length of the prompt" },
    { "prompt=99,generate=2,context=100", "and its answer does not fit" },
    { "cache=q2_k", "is no type of a cache" },
    { "rate=1", "has the values context" },
    { "layers=half", "layers=whole or layers=split" },
};

START_TEST(wrong_values_are_rejected)
{
    const char *values[] = { wrong_values[_i].value, "context=10" };
    gguf_text f = { .size = 0 };
    mo_graph *g = NULL;
    mo_error err;

    gguf_decoder(&f);
    if (!wrong_values[_i].fault) {
        ck_assert_int_eq(read_with(&f, values, 2, &g, &err), MO_E_USAGE);
        ck_assert_ptr_nonnull(strstr(err.text, "does not fit a context of 10"));
        return;
    }
    ck_assert_int_eq(read_with(&f, values, 1, &g, &err), MO_E_USAGE);
    ck_assert_ptr_nonnull(strstr(err.text, wrong_values[_i].fault));
}
END_TEST

START_TEST(a_truncated_header_is_rejected)
{
    gguf_text f = { .size = 0 };
    mo_graph *g = NULL;
    mo_error err;
    size_t whole;

    gguf_decoder(&f);
    whole = f.size;
    for (f.size = 4; f.size < whole; f.size++) {
        ck_assert_int_eq(read_with(&f, NULL, 0, &g, &err), MO_E_SYNTAX);
        ck_assert_str_eq(err.file, "a.gguf");
        ck_assert_ptr_nonnull(strstr(err.text, "incomplete"));
    }
}
END_TEST

/* Writers of what is wrong, with the beginning of what is said of it. */

static void write_version(gguf_text *f)
{
    gguf_begin(f, 1, 0, 0);
}

static void write_counts(gguf_text *f)
{
    gguf_begin(f, 3, UINT64_MAX, 1);
}

static void write_no_architecture(gguf_text *f)
{
    gguf_begin(f, 3, 0, 0);
}

static void write_key_twice(gguf_text *f)
{
    gguf_begin(f, 3, 0, 2);
    gguf_u32_value(f, "a", 1);
    gguf_u32_value(f, "a", 1);
}

static void write_long_key(gguf_text *f)
{
    gguf_begin(f, 3, 0, 1);
    gguf_put(f, 8, 1 << 20);
    gguf_put(f, 8, 0);
}

static void write_value_type(gguf_text *f)
{
    gguf_begin(f, 3, 0, 1);
    gguf_put_text(f, "a");
    gguf_put(f, 4, 13);
}

static void write_nested_array(gguf_text *f)
{
    gguf_begin(f, 3, 0, 1);
    gguf_put_text(f, "a");
    gguf_put(f, 4, 9);
    gguf_put(f, 4, 9);
    gguf_put(f, 8, 1);
}

static void write_long_array(gguf_text *f)
{
    gguf_begin(f, 3, 0, 1);
    gguf_put_text(f, "a");
    gguf_put(f, 4, 9);
    gguf_put(f, 4, 4);
    gguf_put(f, 8, UINT64_MAX);
}

static void write_alignment(gguf_text *f)
{
    gguf_begin(f, 3, 0, 1);
    gguf_u32_value(f, "general.alignment", 24);
}

static void write_tensor_twice(gguf_text *f)
{
    gguf_begin(f, 3, 2, 0);
    gguf_tensor(f, "t", 1, 1, F32, 4);
    gguf_tensor(f, "t", 1, 1, F32, 4);
}

static void write_tensor_name(gguf_text *f)
{
    gguf_begin(f, 3, 1, 0);
    gguf_tensor(f, "a\nb", 1, 1, F32, 4);
}

static void write_tensor_type(gguf_text *f)
{
    gguf_begin(f, 3, 1, 0);
    gguf_tensor(f, "t", 1, 1, 4, 4);
}

static void write_blocks(gguf_text *f)
{
    gguf_begin(f, 3, 1, 0);
    gguf_tensor(f, "t", 1, 100, Q4_K, 144);
}

static void write_empty_tensor(gguf_text *f)
{
    gguf_begin(f, 3, 1, 0);
    gguf_tensor(f, "t", 0, 1, F32, 0);
}

static void write_large_tensor(gguf_text *f)
{
    gguf_begin(f, 3, 1, 0);
    gguf_tensor(f, "t", (uint64_t) 1 << 40, (uint64_t) 1 << 40, F32, 0);
}

static void write_large_bytes(gguf_text *f)
{
    gguf_begin(f, 3, 1, 0);
    gguf_tensor(f, "t", (uint64_t) 1 << 31, (uint64_t) 1 << 31, F32, 0);
}

static void write_overlap(gguf_text *f)
{
    gguf_begin(f, 3, 2, 0);
    gguf_tensor(f, "t", 8, 8, F32, 0);
    gguf_tensor(f, "u", 8, 8, F32, 0);
}

static void write_no_layers(gguf_text *f)
{
    gguf_begin(f, 3, 0, 2);
    gguf_text_value(f, "general.architecture", "llama");
    gguf_u32_value(f, "llama.block_count", 0);
}

static void write_layer_beyond(gguf_text *f)
{
    gguf_begin(f, 3, 1, 2);
    gguf_text_value(f, "general.architecture", "llama");
    gguf_u32_value(f, "llama.block_count", 1);
    gguf_tensor(f, "blk.1.attn_q.weight", 1, 1, F32, 4);
}

static void write_strange_tensor(gguf_text *f)
{
    gguf_begin(f, 3, 3, 2);
    gguf_text_value(f, "general.architecture", "other");
    gguf_u32_value(f, "other.block_count", 1);
    gguf_tensor(f, "token_embd.weight", 1, 1, F32, 4);
    gguf_tensor(f, "blk.0.magic.weight", 1, 1, F32, 4);
    gguf_tensor(f, "blk.0.attn_sinks.weight", 1, 1, F32, 4);
}

static void write_no_embedding(gguf_text *f)
{
    gguf_begin(f, 3, 1, 2);
    gguf_text_value(f, "general.architecture", "clip");
    gguf_u32_value(f, "clip.block_count", 1);
    gguf_tensor(f, "v.blk.0.attn_q.weight", 1, 1, F32, 4);
}

static void write_experts(gguf_text *f)
{
    gguf_begin(f, 3, 2, 2);
    gguf_text_value(f, "general.architecture", "llama");
    gguf_u32_value(f, "llama.block_count", 1);
    gguf_tensor(f, "token_embd.weight", 1, 1, F32, 4);
    gguf_tensor(f, "blk.0.ffn_up.7.weight", 1, 1, F32, 4);
}

static void write_shards(gguf_text *f)
{
    gguf_begin(f, 3, 0, 4);
    gguf_text_value(f, "general.architecture", "llama");
    gguf_u32_value(f, "llama.block_count", 1);
    gguf_u32_value(f, "split.count", 3);
    gguf_u32_value(f, "split.no", 0);
}

static const struct {
    void (*write)(gguf_text *f);
    mo_status status;
    const char *fault;
} hostile[] = {
    { write_version, MO_E_SUPPORT, "version 1" },
    { write_counts, MO_E_LIMIT, "the header counts 18446744073709551615" },
    { write_no_architecture, MO_E_INPUT, "has no name of an architecture" },
    { write_key_twice, MO_E_INPUT, "key 'a' occurs twice" },
    { write_long_key, MO_E_SYNTAX, "incomplete" },
    { write_value_type, MO_E_SYNTAX, "unknown type 13" },
    { write_nested_array, MO_E_SUPPORT, "an array of arrays" },
    { write_long_array, MO_E_SYNTAX, "an array of 18446744073709551615" },
    { write_alignment, MO_E_SYNTAX, "no power of two" },
    { write_tensor_twice, MO_E_INPUT, "tensor 't' occurs twice" },
    { write_tensor_name, MO_E_SYNTAX, "printable" },
    { write_tensor_type, MO_E_SUPPORT, "unknown type 4" },
    { write_blocks, MO_E_SYNTAX, "no blocks of 256 (q4_k)" },
    { write_empty_tensor, MO_E_SYNTAX, "a dimension of 0" },
    { write_large_tensor, MO_E_SYNTAX, "too large" },
    { write_large_bytes, MO_E_LIMIT, "is too large" },
    { write_overlap, MO_E_SYNTAX, "has the offset 0, but 256" },
    { write_no_layers, MO_E_INPUT, "'llama.block_count' is missing" },
    { write_layer_beyond, MO_E_INPUT, "the model has 1 layers" },
    { write_strange_tensor, MO_E_SUPPORT,
      "not understood: blk.0.magic, blk.0.attn_sinks" },
    { write_no_embedding, MO_E_SUPPORT, "only decoders are read" },
    { write_experts, MO_E_INPUT, "has 8 experts" },
    { write_shards, MO_E_INPUT, "-00001-of-00003.gguf" },
};

START_TEST(a_hostile_header_is_rejected_by_name)
{
    gguf_text f = { .size = 0 };
    mo_graph *g = NULL;
    mo_error err;

    hostile[_i].write(&f);
    ck_assert_int_eq(read_with(&f, NULL, 0, &g, &err), hostile[_i].status);
    ck_assert_str_eq(err.file, "a.gguf");
    ck_assert_msg(strstr(err.text, hostile[_i].fault) != NULL, "%s", err.text);
}
END_TEST

START_TEST(rows_of_types_are_whole_blocks)
{
    const mo_llm_type *type;
    int64_t bytes;

    for (int i = 0; (type = mo_llm_type_at(i)); i++) {
        ck_assert_ptr_eq(mo_llm_type_of(type->number), type);
        ck_assert_ptr_eq(mo_llm_type_find(type->name), type);
        ck_assert(mo_llm_type_row_bytes(type, type->block + 1, &bytes));
        ck_assert_int_eq(bytes, 2 * type->block_bytes);
    }
    ck_assert(!mo_llm_type_row_bytes(mo_llm_type_of(28), INT64_MAX, &bytes));
}
END_TEST

SUITE(gguf)
{
    TEST(versions_and_byte_orders_give_the_same_graph);
    TEST(the_cache_is_as_long_as_the_context);
    TEST(a_prompt_is_computed_at_once_but_for_the_head);
    TEST(prompt_and_answer_are_a_workload);
    TEST(a_whole_layer_is_one_group);
    EACH(wrong_values_are_rejected, COUNT(wrong_values));
    TEST(a_truncated_header_is_rejected);
    EACH(a_hostile_header_is_rejected_by_name, COUNT(hostile));
    TEST(rows_of_types_are_whole_blocks);
}
