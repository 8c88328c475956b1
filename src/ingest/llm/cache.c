/* SPDX-License-Identifier: Apache-2.0 */
/* Size of the cache of a layer: keys and values, states of recurrences. */
#include "ingest/llm/llm_graph.h"

#include "base/array.h"
#include "base/minmax.h"

enum { STATE_BYTES = 4 }; /* of an element: f32 in all runtimes */

static int64_t outputs_of(const mo_llm_tensor *tensor)
{
    return tensor ? tensor->dims[1] : 0;
}

/* Sets the elements of the keys and of the values of a token; 0: the layer has
 * no attention. */
static mo_status key_value_width(const mo_llm_model *model, int layer,
                                 int64_t *keys, int64_t *values, mo_error *err)
{
    const mo_llm_tensor *latent =
        mo_llm_model_find(model, layer, "attn_kv_a_mqa");
    const mo_llm_tensor *expanded =
        mo_llm_model_find(model, layer, "attn_kv_b");
    const mo_llm_tensor *qkv = mo_llm_model_find(model, layer, "attn_qkv");
    int64_t queries = 0;

    *values = 0;
    if (latent && (!expanded || model->caches_latent)) {
        *keys = outputs_of(latent); /* the values are a part of them */
        return MO_OK;
    }
    if (latent) {
        /* Keys and values of all heads are made of the latent ones, and the
         * keys end in the rotated part, which all heads share. */
        int64_t rotated = outputs_of(latent) - expanded->dims[0], shared;

        if (!mo_int64_mul(mo_max_i64(rotated, 0), model->layers[layer].heads,
                          &shared) ||
            !mo_int64_add(shared, outputs_of(expanded), keys))
            return mo_fail_at(err, MO_E_LIMIT, model->file, 0,
                              "the cache is too large");
        return MO_OK;
    }
    *keys = outputs_of(mo_llm_model_find(model, layer, "attn_k"));
    *values = outputs_of(mo_llm_model_find(model, layer, "attn_v"));
    if (*keys > 0 && *values == 0)
        *values = *keys;
    if (*keys > 0 || !qkv || mo_llm_model_find(model, layer, "ssm_a"))
        return MO_OK;
    if (!mo_int64_mul(model->layers[layer].heads, model->key_length,
                      &queries) ||
        queries <= 0 || queries >= qkv->dims[1])
        return mo_fail_at(err, MO_E_INPUT, model->file, 0,
                          "'%s' does not have the sizes of its heads",
                          qkv->name);
    *keys = (qkv->dims[1] - queries + 1) / 2;
    *values = qkv->dims[1] - queries - *keys;
    return MO_OK;
}

static bool add_product(int64_t a, int64_t b, int64_t *sum)
{
    int64_t product;

    return mo_int64_mul(a, b, &product) &&
           mo_int64_mul(product, STATE_BYTES, &product) &&
           mo_int64_add(*sum, product, sum);
}

static bool state_bytes(const mo_llm_model *model, int layer, int64_t *bytes)
{
    static const char *const convolutions[] = { "ssm_conv1d",
                                                "shortconv.conv" };
    const mo_llm_tensor *out = mo_llm_model_find(model, layer, "ssm_out");

    *bytes = 0;
    for (int i = 0; i < 2; i++) {
        const mo_llm_tensor *conv =
            mo_llm_model_find(model, layer, convolutions[i]);

        if (conv && !add_product(conv->dims[0] - 1, conv->dims[1], bytes))
            return false;
    }
    return !out || add_product(out->dims[0], model->ssm_state, bytes);
}

mo_status mo_llm_cache_bytes(const mo_llm_model *model, int layer,
                             const mo_llm_type *type, int64_t *bytes,
                             int64_t *state, mo_error *err)
{
    int64_t keys, values, key_bytes, value_bytes;
    mo_status status = key_value_width(model, layer, &keys, &values, err);

    if (status != MO_OK)
        return status;
    if (!mo_llm_type_row_bytes(type, keys, &key_bytes) ||
        !mo_llm_type_row_bytes(type, values, &value_bytes) ||
        !mo_int64_add(key_bytes, value_bytes, bytes) ||
        !state_bytes(model, layer, state))
        return mo_fail_at(err, MO_E_LIMIT, model->file, 0,
                          "the cache is too large");
    return MO_OK;
}
