/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of ingest/hf: names of tensors, hostile headers and configurations. */
#include <config.h>

#include "ingest/hf/hf_model.h"

#include <string.h>

#include "ingest/hf/tensor_role.h"
#include "tests/support/suite.h"

static const struct {
    const char *name, *role, *op;
    int layer;
    int64_t expert;
} names[] = {
    { "model.embed_tokens.weight", "token_embd", "model.embed_tokens", -1, -1 },
    { "lm_head.bias", "output", "lm_head", -1, -1 },
    { "model.layers.7.mlp.down_proj.weight", "ffn_down",
      "model.layers.7.mlp.down_proj", 7, -1 },
    { "model.layers.0.self_attn.q_proj.qweight", "attn_q",
      "model.layers.0.self_attn.q_proj", 0, -1 },
    { "model.layers.3.mlp.experts.12.up_proj.weight", "ffn_up_exps",
      "model.layers.3.mlp.experts.up_proj", 3, 12 },
    { "model.layers.3.block_sparse_moe.experts.1.w2.weight", "ffn_down_exps",
      "model.layers.3.block_sparse_moe.experts.w2", 3, 1 },
    { "model.layers.3.mlp.experts.gate_up_proj_scales", "ffn_gate_up_exps",
      "model.layers.3.mlp.experts.gate_up_proj", 3, -1 },
    { "model.language_model.layers.2.input_layernorm.weight", "attn_norm",
      "model.language_model.layers.2.input_layernorm", 2, -1 },
    { "model.layers.2.magic.weight", NULL, "model.layers.2.magic", 2, -1 },
    { "weight", NULL, "weight", -1, -1 },
    { "model.layers.99999999.a", NULL, "model.layers.99999999.a", -1, -1 },
};

START_TEST(names_have_a_role)
{
    const mo_hf_role role = mo_hf_role_of(names[_i].name);

    ck_assert_pstr_eq(role.role, names[_i].role);
    ck_assert_str_eq(role.op, names[_i].op);
    ck_assert_int_eq(role.layer, names[_i].layer);
    ck_assert_int_eq(role.expert, names[_i].expert);
}
END_TEST

static const struct {
    const char *header, *fault;
} headers[] = {
    { "", "no JSON object" },
    { "[]", "no JSON object" },
    { "{\"a\":1}", "has no fields" },
    { "{\"a\":{}}", "no dtype that is known" },
    { "{\"a b\":{}}", "not printable" },
    { "{\"\":{}}", "is empty" },
    { "{\"a\":{\"dtype\":\"X9\",\"shape\":[1],\"data_offsets\":[0,1]}}",
      "no dtype that is known" },
    { "{\"a\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}",
      "has a shape" },
    { "{\"a\":{\"dtype\":\"U8\",\"shape\":[1,1,1,1,1],\"data_offsets\":[0,1]}}",
      "has a shape" },
    { "{\"a\":{\"dtype\":\"U8\",\"shape\":\"1\",\"data_offsets\":[0,1]}}",
      "has a shape" },
    { "{\"a\":{\"dtype\":\"U8\",\"shape\":[4294967296,4294967296],"
      "\"data_offsets\":[0,1]}}",
      "too large" },
    { "{\"a\":{\"dtype\":\"F64\",\"shape\":[1152921504606846976],"
      "\"data_offsets\":[0,1]}}",
      "is too large" },
    { "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,7]}}",
      "those of 8 bytes" },
    { "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[8,0]}}",
      "those of 8 bytes" },
    { "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[8,16]}}",
      "leave a hole at byte 0" },
    { "{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},"
      "\"b\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[1,3]}}",
      "overlap or leave a hole at byte 2" },
    { "{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},"
      "\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[2,4]}}",
      "'a' occurs twice" },
};

START_TEST(a_hostile_header_is_rejected)
{
    mo_hf_model made;
    mo_error err;

    ck_assert_int_eq(mo_hf_model_init(&made, &err), MO_OK);
    ck_assert_int_ne(mo_hf_header_parse("a.safetensors", headers[_i].header,
                                        strlen(headers[_i].header),
                                        &made.tensors, &err),
                     MO_OK);
    ck_assert_str_eq(err.file, "a.safetensors");
    ck_assert_msg(strstr(err.text, headers[_i].fault) != NULL, "%s", err.text);
    mo_hf_model_clear(&made);
}
END_TEST

START_TEST(a_header_gives_its_tensors)
{
    static const char header[] =
        "{\"b\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[12,16]},"
        "\"__metadata__\":{\"format\":\"pt\"},"
        "\"a\":{\"shape\":[2,3],\"dtype\":\"BF16\",\"data_offsets\":[0,12]}}";
    mo_hf_model made;
    mo_error err;

    ck_assert_int_eq(mo_hf_model_init(&made, &err), MO_OK);
    ck_assert_int_eq(
        mo_hf_header_parse("a", header, strlen(header), &made.tensors, &err),
        MO_OK);
    ck_assert_uint_eq(made.tensors.n, 2);
    ck_assert_int_eq(made.tensors.items[0].bytes, 4);
    ck_assert_int_eq(made.tensors.items[0].rank, 0);
    ck_assert_int_eq(made.tensors.items[1].bytes, 12);
    ck_assert_str_eq(made.tensors.items[1].dtype, "bf16");
    mo_hf_model_clear(&made);
}
END_TEST

static const char *const configs[] = {
    "",
    "{",
    "[]",
    "{}",
    "{\"num_hidden_layers\":0}",
    "{\"num_hidden_layers\":[3]}",
    "{\"num_hidden_layers\":100000}",
};

START_TEST(a_hostile_configuration_is_rejected)
{
    mo_hf_model made;
    mo_error err;

    ck_assert_int_eq(mo_hf_model_init(&made, &err), MO_OK);
    ck_assert_int_ne(mo_hf_model_make("config.json", configs[_i],
                                      strlen(configs[_i]), &made, &err),
                     MO_OK);
    ck_assert_str_eq(err.file, "config.json");
    mo_hf_model_clear(&made);
}
END_TEST

SUITE(hf)
{
    EACH(names_have_a_role, COUNT(names));
    EACH(a_hostile_header_is_rejected, COUNT(headers));
    TEST(a_header_gives_its_tensors);
    EACH(a_hostile_configuration_is_rejected, COUNT(configs));
}
