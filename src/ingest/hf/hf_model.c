/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/hf/hf_model.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/json.h"
#include "base/minmax.h"
#include "graph/dtype.h"
#include "ingest/hf/tensor_role.h"
#include "ingest/llm/rows.h"

enum { MAX_COUNT = 1 << 30 };

typedef struct maker {
    const char *config; /* of the text model */
    int64_t hidden, window, pattern;
    int64_t bits;       /* of packed weights */
    bool packs_outputs; /* several in an integer, else several inputs */
    mo_hf_model *made;
    mo_error *err;
} maker;

#define FAIL(m, status, ...)                                                   \
    mo_fail_at((m)->err, status, (m)->made->model.file, 0, __VA_ARGS__)

/* Returns the value of the first key of the list, 0 without one. */
static int64_t read_count(const char *config, const char *const *keys)
{
    for (; *keys; keys++) {
        size_t length;
        const char *value = mo_json_find(config, *keys, &length);
        int64_t number;

        if (value && mo_json_value_ints(value, length, &number, 1) == 1 &&
            value[0] != '[' && number > 0 && number <= MAX_COUNT)
            return number;
    }
    return 0;
}

#define COUNT(config, ...)                                                     \
    read_count(config, (const char *const[]){ __VA_ARGS__, NULL })

/* Returns the number of items of an array, 0 where there is none. */
static int64_t count_items(const char *config, const char *key)
{
    size_t length = 0;
    const char *value = mo_json_find(config, key, &length);
    mo_json_cursor c;
    mo_json_member item;
    int64_t n = 0;

    if (value && mo_json_open(&c, '[', value, length))
        while (mo_json_take_item(&c, &item) == 1)
            n++;
    return n;
}

/* Copies a text of plain characters, "" where it is none. */
static void read_text(const char *config, const char *key, char *to,
                      size_t size)
{
    size_t length = 0, n = 0;
    const char *value = mo_json_find(config, key, &length);

    for (size_t i = 1; value && value[0] == '"' && i + 1 < length; i++)
        if (n + 1 < size && value[i] > ' ' && value[i] <= '~' &&
            value[i] != '\\')
            to[n++] = value[i];
    to[n] = '\0';
}

/* Returns the object of a key as a text of its own, or fallback. */
static mo_status read_object(const maker *m, const char *config,
                             const char *key, const char *fallback,
                             const char **object)
{
    size_t length = 0;
    const char *value = mo_json_find(config, key, &length);

    *object = fallback;
    if (!value || value[0] != '{')
        return MO_OK;
    *object = mo_arena_text(m->made->arena, value, length);
    return *object ? MO_OK : mo_fail_memory(m->err);
}

static void read_window(maker *m)
{
    static const struct {
        const char *type;
        int pattern;
    } patterns[] = { { "gemma2", 2 },
                     { "gemma3", 6 },
                     { "gpt_oss", 2 },
                     { "gemma3_text", 6 },
                     { "cohere2", 4 } };
    size_t length = 0;
    const char *used = mo_json_find(m->config, "use_sliding_window", &length);

    m->window = COUNT(m->config, "sliding_window");
    if (used && mo_json_value_bool(used, length) == 0)
        m->window = 0;
    m->pattern = COUNT(m->config, "sliding_window_pattern");
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        if (m->pattern == 0 &&
            strcmp(patterns[i].type, m->made->model.architecture) == 0)
            m->pattern = patterns[i].pattern;
}

/* Layers with a window, by the types of layers or by the pattern. */
static void set_windows(const maker *m)
{
    mo_llm_model *model = &m->made->model;
    size_t length = 0;
    const char *types = mo_json_find(m->config, "layer_types", &length);
    mo_json_cursor c;
    mo_json_member item;
    bool has_types = types && mo_json_open(&c, '[', types, length);

    for (int i = 0; i < model->n_layers; i++) {
        bool is_full = m->pattern > 0 && (i + 1) % m->pattern == 0;

        if (has_types && mo_json_take_item(&c, &item) == 1) {
            static const char sliding[] = "\"sliding_attention\"";

            is_full = item.value_length != sizeof sliding - 1 ||
                      memcmp(item.value, sliding, sizeof sliding - 1) != 0;
        }
        model->layers[i].window = is_full ? 0 : m->window;
    }
}

static mo_status read_quantization(maker *m, const char *config)
{
    mo_llm_summary *s = &m->made->summary;
    const char *object = NULL;
    mo_status status =
        read_object(m, config, "quantization_config", "{}", &object);

    m->bits = 4;
    if (status != MO_OK)
        return status;
    read_text(object, "quant_method", s->quantization, sizeof s->quantization);
    if (COUNT(object, "bits", "w_bit") > 0)
        m->bits = COUNT(object, "bits", "w_bit");
    m->packs_outputs = strcmp(s->quantization, "awq") == 0;
    return MO_OK;
}

static const char *activation_type(const char *config)
{
    char text[16];

    read_text(config, "torch_dtype", text, sizeof text);
    if (!text[0])
        read_text(config, "dtype", text, sizeof text);
    return strcmp(text, "float16") == 0 ? "f16" : "bf16";
}

/* Hyper-parameters have several names. */
static mo_status read_config(maker *m, const char *text)
{
    mo_hf_model *made = m->made;
    mo_llm_model *model = &made->model;
    int64_t layers, heads, kv_heads;
    static char unknown[] = "unknown";
    char *type = mo_arena_alloc(made->arena, 64);
    mo_status status = type ? read_quantization(m, text) : MO_E_MEMORY;

    if (status == MO_OK)
        status = read_object(m, text, "text_config", text, &m->config);
    if (status != MO_OK)
        return type ? status : mo_fail_memory(m->err);
    read_text(text, "model_type", type, 64);
    model->architecture = type[0] ? type : unknown;
    model->dtype = activation_type(m->config);
    m->hidden = COUNT(m->config, "hidden_size", "n_embd", "d_model");
    layers = COUNT(m->config, "num_hidden_layers", "n_layer", "num_layers");
    if (layers == 0)
        layers = count_items(m->config, "layers_block_type");
    heads = COUNT(m->config, "num_attention_heads", "n_head", "num_heads");
    kv_heads = COUNT(m->config, "num_key_value_heads");
    if (layers < 1 || layers > MO_LLM_MAX_LAYERS)
        return FAIL(m, MO_E_INPUT,
                    "num_hidden_layers is missing, or not from 1 to %d",
                    MO_LLM_MAX_LAYERS);
    status = mo_llm_model_init(model, (int) layers, m->err);
    if (status != MO_OK)
        return status;
    for (int i = 0; i < model->n_layers; i++) {
        model->layers[i].heads = heads;
        model->layers[i].kv_heads = kv_heads > 0 ? kv_heads : heads;
    }
    model->context = COUNT(m->config, "max_position_embeddings", "n_positions");
    model->key_length = COUNT(m->config, "head_dim");
    if (model->key_length == 0 && heads > 0)
        model->key_length = m->hidden / heads;
    model->experts_used =
        COUNT(m->config, "num_experts_per_tok", "experts_per_token", "moe_k");
    model->ssm_state = COUNT(m->config, "state_size", "mamba_d_state",
                             "ssm_state_size", "linear_key_head_dim");
    model->caches_latent = true;
    model->layer_prefix = "";
    read_window(m);
    set_windows(m);
    return MO_OK;
}

static bool is_suffix(const mo_hf_role *role, const char *suffix)
{
    return strcmp(role->suffix, suffix) == 0;
}

static bool has_role(const mo_hf_role *role, const char *wanted)
{
    return role->role && strcmp(role->role, wanted) == 0;
}

/* Sets inputs, outputs and experts from the shape of a weight: [outputs,
 * inputs], packed where it is quantized. */
static mo_status set_dims(const maker *m, const mo_hf_role *role,
                          const mo_hf_tensor *from, mo_llm_tensor *to)
{
    const int64_t *d = from->dims;
    int64_t pack = 1, per = mo_dtype_bits(from->dtype);
    bool fits = true;

    to->elements = from->elements;
    to->dims[0] = from->rank > 1 ? d[1] : d[0];
    to->dims[1] = from->rank > 1 ? d[0] : 1;
    to->dims[2] = 1;
    if (is_suffix(role, ".qweight") || is_suffix(role, ".weight_packed"))
        pack = mo_max_i64(1, (per > 0 ? per : 8) / m->bits);
    fits = mo_int64_mul(to->elements, pack, &to->elements);
    if (is_suffix(role, ".qweight")) {
        /* [inputs, outputs] */
        to->dims[0] = d[0];
        to->dims[1] = d[1];
    }
    if (fits)
        fits = mo_int64_mul(to->dims[m->packs_outputs ? 1 : 0], pack,
                            &to->dims[m->packs_outputs ? 1 : 0]);
    if (is_suffix(role, "_blocks")) {
        /* [experts, outputs, groups, 16 bytes of two elements] */
        to->dims[0] = d[2] * 32;
        to->dims[1] = d[1];
        to->dims[2] = d[0];
        fits = fits && mo_int64_mul(to->elements, 2, &to->elements);
    } else if ((has_role(role, "ssm_conv1d") ||
                has_role(role, "shortconv.conv")) &&
               from->rank == 3) {
        to->dims[0] = d[2];
        to->dims[1] = d[0];
    } else if (from->rank == 3) {
        /* Of all experts, in either order. */
        bool is_down = has_role(role, "ffn_down_exps");
        bool is_second = is_down ? d[1] != m->hidden : d[2] != m->hidden;

        to->dims[0] = is_second ? d[1] : d[2];
        to->dims[1] = is_second ? d[2] : d[1];
        to->dims[2] = d[0];
    }
    return fits ? MO_OK
                : FAIL(m, MO_E_LIMIT, "tensor '%s' is too large", from->name);
}

static mo_status add_tensor(maker *m, const mo_hf_tensor *tensor)
{
    mo_llm_model *model = &m->made->model;
    mo_hf_role role = mo_hf_role_of(tensor->name);
    mo_llm_tensor made = { .bytes = tensor->bytes };
    mo_status status;

    if (role.layer >= model->n_layers) {
        m->made->summary.draft_layers = mo_max_int(
            m->made->summary.draft_layers, role.layer + 1 - model->n_layers);
        return MO_OK;
    }
    if (!role.role) {
        mo_llm_model_add_unknown(model, tensor->name);
        return MO_OK;
    }
    if (role.layer >= 0 && !model->layer_prefix[0])
        model->layer_prefix =
            mo_arena_text(m->made->arena, tensor->name, role.prefix_length);
    made.name = mo_arena_text(m->made->arena, role.op, strlen(role.op));
    if (!made.name || !model->layer_prefix)
        return mo_fail_memory(m->err);
    status = set_dims(m, &role, tensor, &made);
    if (status != MO_OK)
        return status;
    if (role.expert >= 0) {
        made.dims[2] = role.expert + 1;
        if (!mo_int64_mul(made.elements, made.dims[2], &made.elements))
            return FAIL(m, MO_E_LIMIT, "tensor '%s' is too large",
                        tensor->name);
    }
    return mo_llm_model_add(model, role.layer, role.role, strlen(role.role),
                            &made, m->err);
}

/* Adds the bytes of a tensor to its layer, or to the head; the largest one of
 * no layer is the embedding. */
static mo_status add_size(maker *m, const mo_hf_tensor *tensor,
                          const mo_hf_tensor *embedding, mo_llm_tensor *sums)
{
    mo_hf_role role = mo_hf_role_of(tensor->name);
    mo_llm_tensor *sum = &sums[role.layer < 0 ? 0 : role.layer + 2];

    if (role.layer >= m->made->model.n_layers)
        return MO_OK;
    if (tensor == embedding)
        sum = &sums[1];
    if (!sum->name && role.layer >= 0)
        sum->name =
            mo_arena_text(m->made->arena, tensor->name,
                          strcspn(tensor->name + role.prefix_length, ".") +
                              role.prefix_length);
    else if (!sum->name)
        sum->name =
            mo_arena_text(m->made->arena, tensor->name, strlen(tensor->name));
    if (!sum->name)
        return mo_fail_memory(m->err);
    if (!mo_int64_add(sum->bytes, tensor->bytes, &sum->bytes) ||
        !mo_int64_add(sum->elements, tensor->elements, &sum->elements))
        return FAIL(m, MO_E_LIMIT, "tensor '%s' is too large", tensor->name);
    return MO_OK;
}

static mo_status add_sums(maker *m, mo_llm_tensor *sums)
{
    static const char *const roles[] = { "output", "token_embd", "layer" };
    mo_llm_model *model = &m->made->model;
    mo_status status = MO_OK;

    for (int i = 0; i < model->n_layers + 2 && status == MO_OK; i++) {
        const char *role = roles[mo_min_int(i, 2)];
        int64_t other = mo_max_i64(1, sums[i].elements / m->hidden);

        if (!sums[i].name)
            continue;
        sums[i].dims[0] = m->hidden;
        sums[i].dims[1] = other;
        sums[i].dims[2] = 1;
        if (i >= 2) {
            sums[i].dims[0] = other;
            sums[i].dims[1] = m->hidden;
        }
        status = mo_llm_model_add(model, i < 2 ? MO_LLM_NO_LAYER : i - 2, role,
                                  strlen(role), &sums[i], m->err);
    }
    return status;
}

mo_status mo_hf_model_init(mo_hf_model *made, mo_error *err)
{
    *made = (mo_hf_model){ .arena = mo_arena_new() };
    made->tensors.names = made->arena ? mo_intern_new(made->arena) : NULL;
    return made->tensors.names ? MO_OK : mo_fail_memory(err);
}

void mo_hf_model_clear(mo_hf_model *made)
{
    mo_intern_free(made->tensors.names);
    free(made->tensors.items);
    mo_llm_model_clear(&made->model);
    mo_arena_free(made->arena);
    *made = (mo_hf_model){ .arena = NULL };
}

mo_status mo_hf_model_make(const char *file, const char *text, size_t size,
                           mo_hf_model *made, mo_error *err)
{
    maker m = { .made = made, .err = err };
    mo_json_cursor c;
    mo_status status;

    made->model.file = file;
    if (strlen(text) != size || !mo_json_check(&c, text, size))
        return FAIL(&m, MO_E_SYNTAX, "is no JSON object");
    status = read_config(&m, text);
    for (size_t i = 0; i < made->tensors.n && status == MO_OK; i++) {
        const mo_hf_tensor *tensor = &made->tensors.items[i];

        mo_llm_summary_count(&made->summary, tensor->dtype, tensor->bytes);
        status = add_tensor(&m, tensor);
    }
    mo_llm_summary_sort(&made->summary);
    made->hidden = m.hidden;
    return status;
}

/* Of an unknown architecture every layer is one op. */
mo_status mo_hf_model_by_layer(mo_hf_model *made, mo_error *err)
{
    maker by_layer = { .made = made, .hidden = made->hidden, .err = err };
    maker *m = &by_layer;
    mo_llm_model *model = &made->model;
    const mo_hf_tensors *all = &made->tensors;
    const mo_hf_tensor *embedding = NULL;
    mo_llm_tensor *sums;
    mo_status status = MO_OK;

    if (m->hidden == 0)
        return FAIL(m, MO_E_SUPPORT,
                    "the architecture '%s' is not known, and hidden_size is "
                    "missing",
                    model->architecture);
    memset(model->tensors, 0,
           ((size_t) model->n_layers + 1) * MO_LLM_MAX_ROWS *
               sizeof *model->tensors);
    made->summary.unknown_tensors = model->n_unknown;
    model->n_unknown = 0;
    model->unknown[0] = '\0';
    sums = calloc((size_t) model->n_layers + 2, sizeof *sums);
    if (!sums)
        return mo_fail_memory(err);
    for (size_t i = 0; i < all->n; i++)
        if (mo_hf_role_of(all->items[i].name).layer < 0 &&
            (!embedding || all->items[i].bytes > embedding->bytes))
            embedding = &all->items[i];
    for (size_t i = 0; i < all->n && status == MO_OK; i++)
        status = add_size(m, &all->items[i], embedding, sums);
    if (status == MO_OK)
        status = add_sums(m, sums);
    free(sums);
    return status;
}
