/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/hf/safetensors.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/json.h"
#include "base/minmax.h"
#include "base/reader.h"
#include "ingest/hf/tensor_role.h"

enum { MAX_HEADER = 100000000, MAX_RANK = 16 };

static const struct {
    const char *name, *dtype;
    int bits;
} types[] = {
    { "F32", "f32", 32 },       { "F16", "f16", 16 },
    { "BF16", "bf16", 16 },     { "F8_E4M3", "f8e4m3", 8 },
    { "F8_E5M2", "f8e5m2", 8 }, { "F8_E8M0", "f8e8m0", 8 },
    { "F4", "f4", 4 },          { "I8", "i8", 8 },
    { "U8", "u8", 8 },          { "BOOL", "bool", 8 },
    { "I16", "i16", 16 },       { "U16", "u16", 16 },
    { "I32", "i32", 32 },       { "U32", "u32", 32 },
    { "I64", "i64", 64 },       { "U64", "u64", 64 },
    { "F64", "f64", 64 },
};

/* Where the bytes of a tensor are. */
typedef struct range {
    int64_t begin, end;
} range;

typedef struct decoder {
    const char *file;
    mo_hf_tensors *tensors;
    range *ranges;
    size_t n_ranges, room;
    mo_error *err;
} decoder;

#define FAIL(d, status, ...)                                                   \
    mo_fail_at((d)->err, status, (d)->file, 0, __VA_ARGS__)

static bool is_printable(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (text[i] <= ' ' || text[i] > '~')
            return false;
    return length > 0 && length < MO_HF_MAX_NAME;
}

/* Names appear in reports and models. */
static mo_status keep_name(decoder *d, const mo_json_member *member,
                           const char **name)
{
    int number, before = mo_intern_count(d->tensors->names);
    mo_status status;

    if (!member->key || !is_printable(member->key, member->key_length) ||
        memchr(member->key, '\\', member->key_length))
        return FAIL(d, MO_E_SYNTAX,
                    "a tensor has a name that is empty, long or not printable");
    status = mo_intern_put(d->tensors->names, member->key, member->key_length,
                           &number, d->err);
    if (status != MO_OK)
        return status;
    *name = mo_intern_text(d->tensors->names, number);
    if (number < before)
        return FAIL(d, MO_E_INPUT, "tensor '%s' occurs twice", *name);
    return MO_OK;
}

static int find_type(const mo_json_member *value)
{
    for (int i = 0; i < (int) (sizeof types / sizeof *types); i++)
        if (value->value_length == strlen(types[i].name) + 2 &&
            memcmp(value->value + 1, types[i].name, strlen(types[i].name)) == 0)
            return i;
    return -1;
}

static mo_status set_shape(decoder *d, const mo_json_member *value,
                           mo_hf_tensor *tensor)
{
    int64_t dims[MAX_RANK];
    int n =
        mo_json_value_ints(value->value, value->value_length, dims, MAX_RANK);

    if (value->value_length == 2)
        n = 0; /* [] */
    tensor->elements = 1;
    for (int i = 0; i < MO_HF_DIMS; i++)
        tensor->dims[i] = i < n ? dims[i] : 1;
    tensor->rank = n;
    for (int i = 0; i < n && i < MAX_RANK; i++)
        if (dims[i] < 1 ||
            !mo_int64_mul(tensor->elements, dims[i], &tensor->elements))
            n = -1;
    if (value->value[0] != '[' || n < 0 || n > MO_HF_DIMS)
        return FAIL(d, MO_E_SYNTAX,
                    "tensor '%s' has a shape that is not 0 to %d positive "
                    "sizes, or too large",
                    tensor->name, MO_HF_DIMS);
    return MO_OK;
}

static mo_status take_fields(decoder *d, const mo_json_member *member,
                             mo_hf_tensor *tensor, range *where)
{
    mo_json_cursor c;
    mo_json_member field;
    int type = -1;
    int64_t ends[2] = { 0, -1 };
    bool has_shape = false;
    mo_status status = MO_OK;

    if (!mo_json_open(&c, '{', member->value, member->value_length))
        return FAIL(d, MO_E_SYNTAX, "tensor '%s' has no fields", tensor->name);
    while (status == MO_OK && mo_json_take_member(&c, &field) == 1) {
        if (mo_json_key_is(&field, "dtype")) {
            type = find_type(&field);
        } else if (mo_json_key_is(&field, "shape")) {
            status = set_shape(d, &field, tensor);
            has_shape = true;
        } else if (mo_json_key_is(&field, "data_offsets") &&
                   mo_json_value_ints(field.value, field.value_length, ends,
                                      2) != 2) {
            ends[1] = -1;
        }
    }
    if (status != MO_OK)
        return status;
    if (type < 0 || !has_shape)
        return FAIL(d, MO_E_SUPPORT,
                    "tensor '%s' has no shape, or no dtype that is known",
                    tensor->name);
    tensor->dtype = types[type].dtype;
    if (!mo_int64_mul(tensor->elements, types[type].bits, &tensor->bytes))
        return FAIL(d, MO_E_LIMIT, "tensor '%s' is too large", tensor->name);
    tensor->bytes = (tensor->bytes + 7) / 8;
    if (ends[0] < 0 || ends[1] < ends[0] || ends[1] - ends[0] != tensor->bytes)
        return FAIL(
            d, MO_E_SYNTAX,
            "tensor '%s' has data_offsets that are not those of %" PRId64
            " bytes",
            tensor->name, tensor->bytes);
    *where = (range){ ends[0], ends[1] };
    return MO_OK;
}

static mo_status take_tensor(decoder *d, const mo_json_member *member)
{
    mo_hf_tensors *to = d->tensors;
    mo_hf_tensor tensor = { 0 };
    range where = { 0, 0 };
    mo_status status = keep_name(d, member, &tensor.name);

    if (status == MO_OK)
        status = take_fields(d, member, &tensor, &where);
    if (status == MO_OK)
        status = MO_ARRAY_GROW(to->items, to->n, to->room, d->err);
    if (status == MO_OK)
        status = MO_ARRAY_GROW(d->ranges, d->n_ranges, d->room, d->err);
    if (status == MO_OK) {
        to->items[to->n++] = tensor;
        d->ranges[d->n_ranges++] = where;
    }
    return status;
}

static int compare_ranges(const void *a, const void *b)
{
    return mo_compare_i64(&((const range *) a)->begin,
                          &((const range *) b)->begin);
}

static mo_status check_ranges(decoder *d)
{
    int64_t end = 0;

    if (d->n_ranges > 0)
        qsort(d->ranges, d->n_ranges, sizeof *d->ranges, compare_ranges);
    for (size_t i = 0; i < d->n_ranges; i++) {
        if (d->ranges[i].begin != end)
            return FAIL(d, MO_E_SYNTAX,
                        "tensors overlap or leave a hole at byte %" PRId64,
                        end);
        end = d->ranges[i].end;
    }
    return MO_OK;
}

mo_status mo_hf_header_parse(const char *file, const char *text, size_t size,
                             mo_hf_tensors *tensors, mo_error *err)
{
    decoder d = { .file = file, .tensors = tensors, .err = err };
    mo_json_cursor c;
    mo_json_member member;
    mo_status status = MO_OK;

    if (!mo_json_check(&c, text, size))
        return FAIL(&d, MO_E_SYNTAX, "its header is no JSON object: %s",
                    c.fault);
    if (!mo_json_open(&c, '{', text, size))
        return MO_OK;
    while (status == MO_OK && mo_json_take_member(&c, &member) == 1)
        if (!mo_json_key_is(&member, "__metadata__"))
            status = take_tensor(&d, &member);
    if (status == MO_OK)
        status = check_ranges(&d);
    free(d.ranges);
    return status;
}

static mo_status read_bytes(mo_reader *reader, char *to, size_t size,
                            const char *path, mo_error *err)
{
    size_t got = 0;
    mo_status status = mo_reader_read(reader, to, size, &got, err);

    if (status == MO_OK && got < size)
        return mo_fail_at(err, MO_E_SYNTAX, path, 0,
                          "the header ends early; the file is incomplete");
    return status;
}

mo_status mo_hf_header_read(const char *path, mo_hf_tensors *tensors,
                            mo_error *err)
{
    mo_reader *reader = NULL;
    unsigned char bytes[8];
    uint64_t size = 0;
    char *text = NULL;
    mo_status status = mo_reader_open(path, &reader, err);

    if (status == MO_OK)
        status = read_bytes(reader, (char *) bytes, 8, path, err);
    for (int i = 7; status == MO_OK && i >= 0; i--)
        size = size << 8 | bytes[i];
    if (status == MO_OK && (size < 2 || size > MAX_HEADER))
        status = mo_fail_at(err, MO_E_SYNTAX, path, 0,
                            "is no safetensors file: its header would have "
                            "%" PRIu64 " bytes",
                            size);
    if (status == MO_OK && !(text = malloc((size_t) size + 1)))
        status = mo_fail_memory(err);
    if (status == MO_OK)
        status = read_bytes(reader, text, (size_t) size, path, err);
    if (status == MO_OK) {
        text[size] = '\0';
        status = mo_hf_header_parse(path, text, (size_t) size, tensors, err);
    }
    free(text);
    mo_reader_close(reader);
    return status;
}
