/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors of an ONNX model: the place of their bytes, or typed elements. */
#include <config.h>

#include "ingest/onnx/decode_internal.h"

#include <string.h>

#include "ingest/onnx/onnx.pb.h"

enum {
    KEPT_BYTES = 1 << 19,  /* of a tensor of integers: may be a shape */
    KEPT_REAL_BYTES = 4096 /* of another */
};

typedef struct tensor_target {
    mo_onnx_decoder *d;
    mo_onnx_tensor *tensor;
    const int32_t *type; /* as far as it is read: mostly before the bytes */
    mo_onnx_number_list numbers, dims;
} tensor_target;

/* The place of the bytes that follow, and these bytes if they are few. */
static bool locate_bytes(tensor_target *t, pb_istream_t *stream)
{
    mo_onnx_tensor *tensor = t->tensor;
    size_t size = stream->bytes_left;
    int32_t type = *t->type;
    bool is_real = type == MO_ONNX_FLOAT || type == MO_ONNX_DOUBLE ||
                   type == MO_ONNX_FLOAT16 || type == MO_ONNX_BFLOAT16 ||
                   type == 0;
    unsigned char *copy;

    if (size > INT64_MAX || !mo_onnx_decode_is_file(stream))
        return false;
    tensor->offset = t->d->offset;
    tensor->size = (int64_t) size;
    tensor->bytes = NULL;
    if (size > (is_real ? KEPT_REAL_BYTES : KEPT_BYTES))
        return mo_onnx_decode_skip(stream);
    copy = mo_arena_alloc(t->d->arena, size + 1);
    if (!copy)
        return mo_onnx_decode_fail_memory(t->d);
    tensor->bytes = copy;
    return pb_read(stream, copy, size);
}

static bool decode_raw(pb_istream_t *stream, const pb_field_t *field,
                       void **arg)
{
    (void) field;
    return locate_bytes(*arg, stream);
}

/* Packed numbers of four or eight bytes are stored as a tensor's bytes are;
 * a few are copied. */
static bool decode_reals(pb_istream_t *stream, tensor_target *t, bool is_double)
{
    if (stream->bytes_left > KEPT_REAL_BYTES && t->numbers.n_reals == 0 &&
        t->tensor->size < 0)
        return locate_bytes(t, stream);
    while (stream->bytes_left > 0) {
        float single = 0;
        double value = 0;

        if (is_double ? !pb_decode_fixed64(stream, &value)
                      : !pb_decode_fixed32(stream, &single))
            return false;
        if (!mo_onnx_decode_real(t->d, &t->numbers,
                                 is_double ? value : (double) single))
            return false;
    }
    return true;
}

static bool decode_float_data(pb_istream_t *stream, const pb_field_t *field,
                              void **arg)
{
    (void) field;
    return decode_reals(stream, *arg, false);
}

static bool decode_double_data(pb_istream_t *stream, const pb_field_t *field,
                               void **arg)
{
    (void) field;
    return decode_reals(stream, *arg, true);
}

static bool read_decimal(const char *text, int64_t *value)
{
    *value = 0;
    if (!*text)
        return false;
    for (; *text; text++) {
        if (*text < '0' || *text > '9' || *value > (INT64_MAX - 9) / 10)
            return false;
        *value = 10 * *value + (*text - '0');
    }
    return true;
}

static bool decode_external(pb_istream_t *stream, const pb_field_t *field,
                            void **arg)
{
    tensor_target *t = *arg;
    const char *key = "", *value = "";
    mo_onnx_target key_to = { t->d, &key }, value_to = { t->d, &value };
    mo_onnx_pb_StringStringEntryProto entry =
        mo_onnx_pb_StringStringEntryProto_init_zero;
    bool good = true;

    (void) field;
    entry.key.funcs.decode = entry.value.funcs.decode = mo_onnx_decode_text;
    entry.key.arg = &key_to;
    entry.value.arg = &value_to;
    if (!pb_decode(stream, mo_onnx_pb_StringStringEntryProto_fields, &entry))
        return false;
    if (strcmp(key, "location") == 0)
        t->tensor->external = value;
    else if (strcmp(key, "offset") == 0)
        good = read_decimal(value, &t->tensor->external_offset);
    else if (strcmp(key, "length") == 0)
        good = read_decimal(value, &t->tensor->external_size);
    return good ||
           mo_onnx_decode_fail(t->d, MO_E_INPUT,
                               "has external data with an offset or length "
                               "that is no number; save the model again");
}

static bool store_dims(mo_onnx_decoder *d, const mo_onnx_number_list *dims,
                       mo_shape *shape)
{
    if (dims->n_ints > MO_MAX_RANK)
        return mo_onnx_decode_fail(d, MO_E_LIMIT,
                                   "has a tensor of more than 16 dimensions");
    shape->rank = (int) dims->n_ints;
    for (size_t i = 0; i < dims->n_ints; i++)
        shape->dims[i] = dims->ints[i];
    return true;
}

bool mo_onnx_decode_tensor_into(mo_onnx_decoder *d, pb_istream_t *stream,
                                mo_onnx_tensor *tensor)
{
    mo_onnx_pb_TensorProto m = mo_onnx_pb_TensorProto_init_zero;
    tensor_target t = { .d = d, .tensor = tensor, .type = &m.data_type };
    mo_onnx_target name = { d, &tensor->name }, dims = { d, &t.dims };
    mo_onnx_target ints = { d, &t.numbers };
    size_t n_strings = 0;
    mo_onnx_target strings = { d, &n_strings };

    *tensor = (mo_onnx_tensor){
        .name = "", .offset = -1, .size = -1, .external_size = -1
    };
    m.name.funcs.decode = mo_onnx_decode_text;
    m.name.arg = &name;
    m.dims.funcs.decode = mo_onnx_decode_ints;
    m.dims.arg = &dims;
    m.int32_data.funcs.decode = m.int64_data.funcs.decode =
        m.uint64_data.funcs.decode = mo_onnx_decode_ints;
    m.int32_data.arg = m.int64_data.arg = m.uint64_data.arg = &ints;
    m.float_data.funcs.decode = decode_float_data;
    m.double_data.funcs.decode = decode_double_data;
    m.raw_data.funcs.decode = decode_raw;
    m.external_data.funcs.decode = decode_external;
    m.float_data.arg = m.double_data.arg = m.raw_data.arg =
        m.external_data.arg = &t;
    m.string_data.funcs.decode = mo_onnx_decode_count;
    m.string_data.arg = &strings;
    if (!pb_decode(stream, mo_onnx_pb_TensorProto_fields, &m))
        return false;
    tensor->type = m.data_type;
    tensor->ints = t.numbers.ints;
    tensor->n_ints = t.numbers.n_ints;
    tensor->reals = t.numbers.reals;
    tensor->n_reals = t.numbers.n_reals;
    if (m.data_location != 1)
        tensor->external = NULL;
    return store_dims(d, &t.dims, &tensor->shape);
}

bool mo_onnx_decode_tensor(pb_istream_t *stream, const pb_field_t *field,
                           void **arg)
{
    const mo_onnx_target *t = *arg;
    mo_onnx_tensor *tensor = mo_arena_alloc(t->d->arena, sizeof *tensor);

    (void) field;
    if (!tensor)
        return mo_onnx_decode_fail_memory(t->d);
    *(const mo_onnx_tensor **) t->to = tensor;
    return mo_onnx_decode_tensor_into(t->d, stream, tensor);
}
