/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/gguf/gguf_model.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/number.h"

enum { MAX_SHARDS = 1000, MAX_COUNT = 1 << 30 };

/* Architectures in which all layers but every n-th have a sliding window, where
 * the file does not have the pattern. */
static const struct {
    const char *architecture;
    int pattern;
} windows[] = {
    { "gemma2", 2 },  { "gemma3", 6 },  { "gemma3n", 5 },
    { "gpt-oss", 2 }, { "cohere2", 4 }, { "exaone4", 4 },
};

typedef struct reader {
    mo_input *input;
    mo_gguf_header header; /* of the shard */
    const char *file;      /* its name, without folders */
    mo_gguf_model *made;
    mo_error *err;
} reader;

#define FAIL(r, status, ...)                                                   \
    mo_fail_at((r)->err, status, mo_input_name((r)->input), 0, __VA_ARGS__)

static const mo_gguf_value *find_of(const reader *r, const char *key)
{
    char whole[160];

    snprintf(whole, sizeof whole, "%s.%s", r->made->model.architecture, key);
    return mo_gguf_header_find(&r->header, whole);
}

/* Sets *number to the value of the architecture's key, 0 without it. */
static mo_status read_count(const reader *r, const char *key, int64_t *number)
{
    const mo_gguf_value *value = find_of(r, key);

    *number = 0;
    if (!value || value->ints)
        return MO_OK;
    if (!(value->number >= 0 && value->number <= MAX_COUNT) ||
        value->number != floor(value->number))
        return FAIL(r, MO_E_INPUT, "key '%s' is no number from 0 to %d",
                    value->key, MAX_COUNT);
    *number = (int64_t) value->number;
    return MO_OK;
}

/* The same of a layer, whose value may be in an array. */
static mo_status read_layer_count(const reader *r, const char *key, int layer,
                                  int64_t *number)
{
    const mo_gguf_value *value = find_of(r, key);

    if (!value || !value->ints)
        return read_count(r, key, number);
    if (layer >= value->n_ints || value->ints[layer] < 0 ||
        value->ints[layer] > MAX_COUNT)
        return FAIL(r, MO_E_INPUT, "key '%s' has no number for layer %d",
                    value->key, layer);
    *number = value->ints[layer];
    return MO_OK;
}

static int64_t default_pattern(const char *architecture)
{
    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++)
        if (strcmp(windows[i].architecture, architecture) == 0)
            return windows[i].pattern;
    return 0;
}

static mo_status read_window(const reader *r, int layer, int64_t *window)
{
    static const char key[] = "attention.sliding_window_pattern";
    const mo_gguf_value *value = find_of(r, key);
    int64_t pattern = default_pattern(r->made->model.architecture);
    mo_status status = read_count(r, "attention.sliding_window", window);

    if (status == MO_OK && value && !value->ints)
        status = read_count(r, key, &pattern);
    if (status != MO_OK)
        return status;
    if (value && value->ints) {
        if (layer >= value->n_ints || !value->ints[layer])
            *window = 0;
    } else if (pattern == 0 || layer % pattern == pattern - 1) {
        *window = 0;
    }
    return MO_OK;
}

static mo_status read_layers(const reader *r)
{
    mo_llm_model *model = &r->made->model;
    mo_status status = MO_OK;

    for (int i = 0; i < model->n_layers && status == MO_OK; i++) {
        mo_llm_layer *layer = &model->layers[i];

        status = read_layer_count(r, "attention.head_count", i, &layer->heads);
        layer->kv_heads = layer->heads;
        if (status == MO_OK && find_of(r, "attention.head_count_kv"))
            status = read_layer_count(r, "attention.head_count_kv", i,
                                      &layer->kv_heads);
        if (status == MO_OK)
            status = read_window(r, i, &layer->window);
    }
    return status;
}

static mo_status read_architecture(const reader *r)
{
    const mo_gguf_value *value =
        mo_gguf_header_find(&r->header, "general.architecture");
    const char *text = value ? value->text : NULL;

    if (!text || strlen(text) > 100 ||
        strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                     "0123456789._-") != strlen(text) ||
        !text[0])
        return FAIL(r, MO_E_INPUT,
                    "has no name of an architecture "
                    "(general.architecture)");
    r->made->model.architecture = text;
    value = mo_gguf_header_find(&r->header, "general.name");
    r->made->model.title = value ? value->text : NULL;
    return MO_OK;
}

static mo_status read_parameters(const reader *r)
{
    mo_gguf_model *made = r->made;
    mo_llm_model *model = &made->model;
    int64_t blocks = 0, draft = 0, embedding = 0;
    mo_status status = read_architecture(r);

    if (status != MO_OK ||
        (status = read_count(r, "block_count", &blocks)) != MO_OK ||
        (status = read_count(r, "nextn_predict_layers", &draft)) != MO_OK ||
        (status = read_count(r, "embedding_length", &embedding)) != MO_OK ||
        (status = read_count(r, "context_length", &model->context)) != MO_OK ||
        (status = read_count(r, "attention.key_length", &model->key_length)) !=
            MO_OK ||
        (status = read_count(r, "expert_used_count", &model->experts_used)) !=
            MO_OK ||
        (status = read_count(r, "ssm.state_size", &model->ssm_state)) != MO_OK)
        return status;
    if (blocks < 1 || blocks > MO_LLM_MAX_LAYERS || draft >= blocks)
        return FAIL(r, MO_E_INPUT,
                    "key '%s.block_count' is missing, or no number of layers "
                    "from 1 to %d",
                    model->architecture, MO_LLM_MAX_LAYERS);
    made->summary.draft_layers = (int) draft;
    model->layer_prefix = "blk.";
    model->dtype = "f16";
    status = mo_llm_model_init(model, (int) (blocks - draft), r->err);
    if (status == MO_OK)
        status = read_layers(r);
    if (status == MO_OK && model->key_length == 0 && model->layers[0].heads > 0)
        model->key_length = embedding / model->layers[0].heads;
    return status;
}

/* The name of a tensor, "blk.7.ffn_gate.3.weight", in its parts. */
typedef struct tensor_name {
    const char *role;              /* "ffn_gate" */
    size_t role_length, op_length; /* of "blk.7.ffn_gate.3" */
    int layer;
    int64_t expert; /* -1: of all */
} tensor_name;

static bool ends_with(const char *text, size_t length, const char *end)
{
    size_t n = strlen(end);

    return length > n && memcmp(text + length - n, end, n) == 0;
}

static bool parse_name(const char *name, tensor_name *parts)
{
    static const char *const suffixes[] = { ".weight", ".bias", ".scale",
                                            ".input_scale" };
    size_t digits;
    int64_t number = -1;
    const char *dot;

    *parts = (tensor_name){ name, 0, strlen(name), MO_LLM_NO_LAYER, -1 };
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (ends_with(name, parts->op_length, suffixes[i])) {
            parts->op_length -= strlen(suffixes[i]);
            break;
        }
    parts->role_length = parts->op_length;
    if (strncmp(name, "blk.", 4) != 0)
        return true;
    digits = strspn(name + 4, "0123456789");
    if (name[4 + digits] != '.' || 5 + digits >= parts->op_length ||
        mo_number_read_int(name + 4, digits, &number) != MO_NUMBER_OK ||
        number > MO_LLM_MAX_LAYERS)
        return false;
    parts->layer = (int) number;
    parts->role = name + 5 + digits;
    parts->role_length = parts->op_length - 5 - digits;
    /* Files of before 2024 have a tensor for each expert. */
    dot = memchr(parts->role, '.', parts->role_length);
    digits = dot ? parts->role_length - (size_t) (dot + 1 - parts->role) : 0;
    if (dot && digits > 0 && digits < 6 &&
        strspn(dot + 1, "0123456789") >= digits) {
        (void) mo_number_read_int(dot + 1, digits, &parts->expert);
        parts->role_length -= digits + 1;
        parts->op_length -= digits + 1;
    }
    return true;
}

static mo_status add_tensor(reader *r, const mo_gguf_tensor *tensor)
{
    mo_llm_model *model = &r->made->model;
    char role[80], op[96];
    tensor_name parts;
    mo_llm_tensor made;

    if (!parse_name(tensor->name, &parts) ||
        parts.layer >= model->n_layers + r->made->summary.draft_layers)
        return FAIL(r, MO_E_INPUT,
                    "tensor '%s' is of no layer; the model has %d layers",
                    tensor->name,
                    model->n_layers + r->made->summary.draft_layers);
    if (parts.layer >= model->n_layers)
        return MO_OK;
    snprintf(role, sizeof role, "%.*s%s", (int) parts.role_length, parts.role,
             parts.expert >= 0 ? "_exps" : "");
    snprintf(op, sizeof op, "%.*s%s", (int) parts.op_length, tensor->name,
             parts.expert >= 0 ? "_exps" : "");
    made = (mo_llm_tensor){
        .name = mo_arena_text(r->made->arena, op, strlen(op)),
        .dims = { tensor->dims[0], tensor->dims[1], tensor->dims[2] },
        .elements = tensor->dims[0] * tensor->dims[1] * tensor->dims[2] *
                    tensor->dims[3],
        .bytes = tensor->bytes,
    };
    if (!made.name)
        return mo_fail_memory(r->err);
    if (parts.expert >= 0) {
        made.dims[2] = parts.expert + 1;
        if (!mo_int64_mul(made.elements, made.dims[2], &made.elements))
            return FAIL(r, MO_E_LIMIT, "tensor '%s' is too large",
                        tensor->name);
    }
    return mo_llm_model_add(model, parts.layer, role, strlen(role), &made,
                            r->err);
}

/* Lists where the tensor is in its file. */
static mo_status add_weight(reader *r, const mo_gguf_tensor *tensor)
{
    mo_gguf_model *made = r->made;
    mo_llm_weight weight = { .name = tensor->name,
                             .file = r->file,
                             .type = tensor->type,
                             .bytes = tensor->bytes };
    mo_status status =
        MO_ARRAY_GROW(made->weights, made->n_weights, made->room, r->err);

    if (status != MO_OK)
        return status;
    memcpy(weight.dims, tensor->dims, sizeof weight.dims);
    if (!mo_int64_add(r->header.data_offset, tensor->offset, &weight.offset))
        return FAIL(r, MO_E_LIMIT, "tensor '%s' is too large", tensor->name);
    made->weights[made->n_weights++] = weight;
    return MO_OK;
}

/* The decoder of headers has limited the sum of bytes within a shard. */
static mo_status add_tensors(reader *r)
{
    const char *name = mo_input_name(r->input), *slash = strrchr(name, '/');
    mo_status status = MO_OK;

    name = slash ? slash + 1 : name;
    r->file = mo_arena_text(r->made->arena, name, strlen(name));
    if (!r->file)
        return mo_fail_memory(r->err);
    for (size_t i = 0; i < r->header.n_tensors && status == MO_OK; i++) {
        const mo_gguf_tensor *tensor = &r->header.tensors[i];

        mo_llm_summary_count(&r->made->summary, tensor->type->name,
                             tensor->bytes);
        status = add_tensor(r, tensor);
        if (status == MO_OK)
            status = add_weight(r, tensor);
    }
    return status;
}

static mo_status read_header(reader *r)
{
    r->header = (mo_gguf_header){ 0 };
    return mo_gguf_header_read(r->input, r->made->arena, &r->header, r->err);
}

/* Sets *count to the number of shards of the header that was read. */
static mo_status count_shards(const reader *r, int *count)
{
    const mo_gguf_value *value = mo_gguf_header_find(&r->header, "split.count");

    *count = 1;
    if (!value || value->number == 0)
        return MO_OK;
    if (!(value->number >= 1 && value->number <= MAX_SHARDS) ||
        value->number != floor(value->number))
        return FAIL(r, MO_E_INPUT, "split.count is no number from 1 to %d",
                    MAX_SHARDS);
    *count = (int) value->number;
    return MO_OK;
}

/* Sets *path to the name of a shard, "model-00002-of-00003.gguf", made of that
 * of the first one; the caller frees it. */
static mo_status name_shard(const reader *r, const char *first, int shard,
                            int count, char **path)
{
    char end[64];
    size_t length = strlen(first), n;

    snprintf(end, sizeof end, "-00001-of-%05d.gguf", count);
    if (!ends_with(first, length, end))
        return FAIL(r, MO_E_INPUT,
                    "is one of %d shards; give the first one, whose name ends "
                    "in %s",
                    count, end);
    n = length - strlen(end);
    snprintf(end, sizeof end, "-%05d-of-%05d.gguf", shard + 1, count);
    *path = malloc(n + strlen(end) + 1);
    if (!*path)
        return mo_fail_memory(r->err);
    memcpy(*path, first, n);
    strcpy(*path + n, end);
    return MO_OK;
}

static mo_status check_shard(const reader *r, int shard, int count)
{
    const mo_gguf_value *number = mo_gguf_header_find(&r->header, "split.no");
    int counted;
    mo_status status = count_shards(r, &counted);

    if (status == MO_OK && shard == 0 && number && number->number > 0)
        return FAIL(r, MO_E_INPUT,
                    "is shard %.0f of %d; give the first one, and keep the "
                    "others in its folder",
                    number->number + 1, count);
    if (status == MO_OK &&
        (counted != count || !number || number->number != shard))
        return FAIL(r, MO_E_INPUT,
                    "is not shard %d of %d, as its name has it (split.no, "
                    "split.count)",
                    shard + 1, count);
    return status;
}

static mo_status read_shard(reader *r, const char *first, int shard, int count)
{
    mo_input *before = r->input;
    const mo_gguf_header header = r->header;
    char *path = NULL;
    mo_status status = name_shard(r, first, shard, count, &path);

    if (status == MO_OK)
        status = mo_input_note_file(before, path, r->err);
    if (status == MO_OK)
        status = mo_input_open(path, &r->input, r->err);
    if (status == MO_OK) {
        mo_input_accept_binary(r->input);
        status = read_header(r);
        if (status == MO_OK)
            status = check_shard(r, shard, count);
        if (status == MO_OK)
            status = add_tensors(r);
        mo_gguf_header_clear(&r->header);
        mo_input_close(r->input);
    }
    r->input = before;
    r->header = header;
    free(path);
    return status;
}

mo_status mo_gguf_model_read(mo_input *input, mo_gguf_model *model,
                             mo_error *err)
{
    reader r = { .input = input, .made = model, .err = err };
    int count = 1;
    mo_status status = MO_OK;

    *model = (mo_gguf_model){ .arena = mo_arena_new() };
    model->model.file = mo_input_name(input);
    if (!model->arena)
        return mo_fail_memory(err);
    status = read_header(&r);
    if (status == MO_OK)
        status = count_shards(&r, &count);
    if (status == MO_OK && count > 1)
        status = check_shard(&r, 0, count);
    if (status == MO_OK)
        status = read_parameters(&r);
    if (status == MO_OK)
        status = add_tensors(&r);
    for (int i = 1; i < count && status == MO_OK; i++)
        status = read_shard(&r, mo_input_name(input), i, count);
    model->summary.shards = count;
    mo_llm_summary_sort(&model->summary);
    model->header = r.header;
    return status;
}

void mo_gguf_model_clear(mo_gguf_model *model)
{
    mo_llm_model_clear(&model->model);
    mo_gguf_header_clear(&model->header);
    free(model->weights);
    mo_arena_free(model->arena);
    *model = (mo_gguf_model){ 0 };
}
