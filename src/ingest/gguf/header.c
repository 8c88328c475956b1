/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/gguf/header.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/intern.h"

enum {
    MAX_KEY = 65535,       /* bytes, by the specification */
    MAX_NAME = 63,         /* of a tensor, by ggml */
    MAX_TEXT = 4096,       /* longer texts are skipped */
    MAX_INTS = 4096,       /* longer arrays are skipped */
    MAX_VALUES = 1 << 16,  /* key-value pairs */
    MAX_TENSORS = 1 << 20, /* tensor infos */
    DEFAULT_ALIGNMENT = 32
};

typedef enum value_type {
    TYPE_U8,
    TYPE_I8,
    TYPE_U16,
    TYPE_I16,
    TYPE_U32,
    TYPE_I32,
    TYPE_F32,
    TYPE_BOOL,
    TYPE_STRING,
    TYPE_ARRAY,
    TYPE_U64,
    TYPE_I64,
    TYPE_F64,
    N_TYPES
} value_type;

/* Bytes of a value; 0: they vary. */
static const int type_bytes[N_TYPES] = {
    1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8
};

typedef struct decoder {
    mo_input *input;
    const char *block;
    size_t n_block;
    int64_t at; /* bytes taken so far */
    bool is_big_endian;
    mo_arena *arena;
    mo_intern *names;
    mo_gguf_header *header;
    mo_error *err;
} decoder;

bool mo_gguf_sniff(const char *data, size_t size)
{
    return size >= 4 && memcmp(data, "GGUF", 4) == 0;
}

#define FAIL(d, status, ...)                                                   \
    mo_fail_at((d)->err, status, mo_input_name((d)->input), 0, __VA_ARGS__)

/* Copies the next count bytes to `to`, or skips them where that is NULL. */
static mo_status take(decoder *d, char *to, uint64_t count)
{
    while (count > 0) {
        size_t n = count < d->n_block ? (size_t) count : d->n_block;

        if (n == 0) {
            mo_status status =
                mo_input_next(d->input, &d->block, &d->n_block, d->err);

            if (status != MO_OK)
                return status;
            if (d->n_block == 0)
                return FAIL(d, MO_E_SYNTAX,
                            "the header ends early; the file is incomplete");
            continue;
        }
        if (to) {
            memcpy(to, d->block, n);
            to += n;
        }
        d->block += n;
        d->n_block -= n;
        d->at += (int64_t) n;
        count -= n;
    }
    return MO_OK;
}

/* Reads an unsigned integer of that many bytes. */
static mo_status take_bits(decoder *d, int size, uint64_t *bits)
{
    unsigned char bytes[8];
    mo_status status = take(d, (char *) bytes, (uint64_t) size);

    if (status != MO_OK)
        return status;
    *bits = 0;
    for (int i = 0; i < size; i++)
        *bits = *bits << 8 | bytes[d->is_big_endian ? i : size - 1 - i];
    return MO_OK;
}

/* Reads a text; *text is NULL where it is longer than most bytes. */
static mo_status take_text(decoder *d, size_t most, const char **text,
                           size_t *length)
{
    uint64_t n;
    char *copy;
    mo_status status = take_bits(d, 8, &n);

    *text = NULL;
    if (status != MO_OK)
        return status;
    *length = n > SIZE_MAX ? SIZE_MAX : (size_t) n;
    if (n > most)
        return take(d, NULL, n);
    copy = mo_arena_alloc(d->arena, (size_t) n + 1);
    if (!copy)
        return mo_fail_memory(d->err);
    *text = copy;
    return take(d, copy, n);
}

/* Names appear in reports and models. */
static bool is_printable(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (text[i] <= ' ' || text[i] > '~')
            return false;
    return length > 0;
}

/* Reads a key or the name of a tensor, which must be new. */
static mo_status take_name(decoder *d, const char *what, size_t most,
                           const char **name)
{
    size_t length = 0;
    int number, n = mo_intern_count(d->names);
    mo_status status = take_text(d, most, name, &length);

    if (status != MO_OK)
        return status;
    if (!*name)
        return FAIL(d, MO_E_LIMIT,
                    "a %s has %zu bytes, at most %zu are "
                    "allowed",
                    what, length, most);
    if (!is_printable(*name, length))
        return FAIL(d, MO_E_SYNTAX,
                    "a %s is empty or has other than printable characters",
                    what);
    status = mo_intern_put(d->names, *name, length, &number, d->err);
    if (status == MO_OK && number < n)
        return FAIL(d, MO_E_INPUT, "%s '%.64s' occurs twice", what, *name);
    return status;
}

static double real_of(uint64_t bits, bool is_double)
{
    uint32_t narrow = (uint32_t) bits;
    double wide;
    float single;

    if (is_double) {
        memcpy(&wide, &bits, sizeof wide);
        return wide;
    }
    memcpy(&single, &narrow, sizeof single);
    return single;
}

/* Returns bits of a signed type with the sign extended. */
static int64_t signed_of(uint64_t bits, int size)
{
    uint64_t sign = (uint64_t) 1 << (8 * size - 1);

    return (int64_t) ((bits ^ sign) - sign);
}

static bool is_integer(value_type type)
{
    return type != TYPE_F32 && type != TYPE_F64 && type_bytes[type] > 0;
}

static bool is_signed(value_type type)
{
    return type == TYPE_I8 || type == TYPE_I16 || type == TYPE_I32 ||
           type == TYPE_I64;
}

static mo_status take_number(decoder *d, value_type type, double *number,
                             int64_t *integer)
{
    uint64_t bits;
    mo_status status = take_bits(d, type_bytes[type], &bits);

    if (status != MO_OK)
        return status;
    if (!is_integer(type)) {
        *number = real_of(bits, type == TYPE_F64);
        *integer = 0;
    } else {
        *integer = is_signed(type)    ? signed_of(bits, type_bytes[type])
                   : bits > INT64_MAX ? INT64_MAX
                                      : (int64_t) bits;
        *number = (double) *integer;
    }
    return MO_OK;
}

static mo_status take_type(decoder *d, const char *key, value_type *type)
{
    uint64_t number;
    mo_status status = take_bits(d, 4, &number);

    if (status != MO_OK)
        return status;
    if (number >= N_TYPES)
        return FAIL(d, MO_E_SYNTAX,
                    "key '%.100s' has a value of the unknown type %" PRIu64,
                    key, number);
    *type = (value_type) number;
    return MO_OK;
}

static mo_status take_array(decoder *d, mo_gguf_value *value)
{
    value_type type = TYPE_U8;
    uint64_t n = 0, bytes;
    int64_t *ints;
    double ignored;
    mo_status status = take_type(d, value->key, &type);

    if (status == MO_OK)
        status = take_bits(d, 8, &n);
    if (status != MO_OK)
        return status;
    if (type == TYPE_ARRAY)
        return FAIL(d, MO_E_SUPPORT, "key '%.100s' has an array of arrays",
                    value->key);
    for (; type == TYPE_STRING && n > 0 && status == MO_OK; n--) {
        status = take_bits(d, 8, &bytes);
        if (status == MO_OK)
            status = take(d, NULL, bytes);
    }
    if (type == TYPE_STRING || status != MO_OK)
        return status;
    if (n > UINT64_MAX / 8)
        return FAIL(d, MO_E_SYNTAX,
                    "key '%.100s' has an array of %" PRIu64 " items",
                    value->key, n);
    if (!is_integer(type) || n > MAX_INTS)
        return take(d, NULL, n * (uint64_t) type_bytes[type]);
    ints = mo_arena_array(d->arena, (size_t) n, sizeof *ints);
    if (!ints)
        return mo_fail_memory(d->err);
    value->ints = ints;
    value->n_ints = (int64_t) n;
    for (uint64_t i = 0; i < n && status == MO_OK; i++)
        status = take_number(d, type, &ignored, &ints[i]);
    return status;
}

static mo_status take_value(decoder *d)
{
    mo_gguf_header *h = d->header;
    mo_gguf_value value = { .number = NAN };
    value_type type = TYPE_U8;
    size_t length;
    int64_t integer;
    mo_status status = take_name(d, "key", MAX_KEY, &value.key);

    if (status == MO_OK)
        status = take_type(d, value.key, &type);
    if (status != MO_OK)
        return status;
    if (type == TYPE_STRING)
        status = take_text(d, MAX_TEXT, &value.text, &length);
    else if (type == TYPE_ARRAY)
        status = take_array(d, &value);
    else
        status = take_number(d, type, &value.number, &integer);
    if (status == MO_OK)
        status = MO_ARRAY_GROW(h->values, h->n_values, h->values_room, d->err);
    if (status == MO_OK)
        h->values[h->n_values++] = value;
    return status;
}

static mo_status take_dims(decoder *d, mo_gguf_tensor *tensor)
{
    int64_t elements = 1;
    uint64_t n, dim;
    mo_status status = take_bits(d, 4, &n);

    if (status != MO_OK)
        return status;
    if (n > MO_GGUF_DIMS)
        return FAIL(d, MO_E_SYNTAX,
                    "tensor '%s' has %" PRIu64 " dimensions, at most %d are "
                    "allowed",
                    tensor->name, n, MO_GGUF_DIMS);
    for (uint64_t i = 0; i < MO_GGUF_DIMS; i++) {
        dim = 1;
        status = i < n ? take_bits(d, 8, &dim) : MO_OK;
        if (status != MO_OK)
            return status;
        if (dim == 0 || dim > INT64_MAX ||
            !mo_int64_mul(elements, (int64_t) dim, &elements))
            return FAIL(d, MO_E_SYNTAX,
                        "tensor '%s' has a dimension of %" PRIu64
                        ", which makes it empty or too large",
                        tensor->name, dim);
        tensor->dims[i] = (int64_t) dim;
    }
    return MO_OK;
}

/* Sets the size of a tensor, whose rows are whole blocks. */
static mo_status set_bytes(decoder *d, uint64_t type, mo_gguf_tensor *tensor)
{
    tensor->type = mo_llm_type_of((uint32_t) type);
    if (!tensor->type)
        return FAIL(d, MO_E_SUPPORT,
                    "tensor '%s' is of the unknown type %" PRIu64, tensor->name,
                    type);
    if (tensor->dims[0] % tensor->type->block != 0)
        return FAIL(d, MO_E_SYNTAX,
                    "tensor '%s' has rows of %" PRId64
                    " elements, which are no blocks of %d (%s)",
                    tensor->name, tensor->dims[0], tensor->type->block,
                    tensor->type->name);
    if (!mo_llm_type_row_bytes(tensor->type, tensor->dims[0], &tensor->bytes) ||
        !mo_int64_mul(tensor->bytes,
                      tensor->dims[1] * tensor->dims[2] * tensor->dims[3],
                      &tensor->bytes))
        return FAIL(d, MO_E_LIMIT, "tensor '%s' is too large", tensor->name);
    return MO_OK;
}

/* expected: the offset behind the tensors before, which it is moved over. */
static mo_status take_tensor(decoder *d, int64_t alignment, int64_t *expected)
{
    mo_gguf_header *h = d->header;
    mo_gguf_tensor tensor = { 0 };
    uint64_t type = 0, offset = 0;
    mo_status status = take_name(d, "tensor", MAX_NAME, &tensor.name);

    if (status == MO_OK)
        status = take_dims(d, &tensor);
    if (status == MO_OK)
        status = take_bits(d, 4, &type);
    if (status == MO_OK)
        status = set_bytes(d, type, &tensor);
    if (status == MO_OK)
        status = take_bits(d, 8, &offset);
    if (status != MO_OK)
        return status;
    if (offset != (uint64_t) *expected)
        return FAIL(d, MO_E_SYNTAX,
                    "tensor '%s' has the offset %" PRIu64 ", but %" PRId64
                    " is where the one before ends, aligned to %" PRId64,
                    tensor.name, offset, *expected, alignment);
    tensor.offset = *expected;
    if (!mo_int64_add(*expected, tensor.bytes, expected) ||
        !mo_int64_add(*expected, alignment - 1, expected))
        return FAIL(d, MO_E_LIMIT, "all tensors together are too large");
    *expected -= *expected % alignment;
    status = MO_ARRAY_GROW(h->tensors, h->n_tensors, h->tensors_room, d->err);
    if (status == MO_OK)
        h->tensors[h->n_tensors++] = tensor;
    return status;
}

static mo_status take_version(decoder *d)
{
    char magic[4];
    uint64_t version = 0;
    mo_status status = take(d, magic, sizeof magic);

    if (status == MO_OK)
        status = take_bits(d, 4, &version);
    if (status != MO_OK)
        return status;
    if ((version & 0xffff) == 0) {
        d->is_big_endian = true;
        version = version >> 24 | (version >> 8 & 0xff00);
    }
    if (version != 2 && version != 3)
        return FAIL(d, MO_E_SUPPORT,
                    "is GGUF of version %" PRIu64
                    "; convert it to version 2 or 3",
                    version);
    d->header->version = (int) version;
    return MO_OK;
}

static mo_status find_alignment(decoder *d, int64_t *alignment)
{
    const mo_gguf_value *value =
        mo_gguf_header_find(d->header, "general.alignment");

    *alignment = DEFAULT_ALIGNMENT;
    if (!value)
        return MO_OK;
    if (!(value->number >= 1 && value->number <= 0x1p31) ||
        value->number != floor(value->number) ||
        ((int64_t) value->number & ((int64_t) value->number - 1)) != 0)
        return FAIL(d, MO_E_SYNTAX, "general.alignment is no power of two");
    *alignment = (int64_t) value->number;
    return MO_OK;
}

static mo_status take_all(decoder *d)
{
    uint64_t n_tensors = 0, n_values = 0;
    int64_t alignment = 0, expected = 0;
    mo_status status = take_version(d);

    if (status == MO_OK)
        status = take_bits(d, 8, &n_tensors);
    if (status == MO_OK)
        status = take_bits(d, 8, &n_values);
    if (status == MO_OK && (n_tensors > MAX_TENSORS || n_values > MAX_VALUES))
        return FAIL(d, MO_E_LIMIT,
                    "the header counts %" PRIu64 " tensors and %" PRIu64
                    " keys, at most %d and %d are allowed",
                    n_tensors, n_values, MAX_TENSORS, MAX_VALUES);
    for (uint64_t i = 0; i < n_values && status == MO_OK; i++)
        status = take_value(d);
    if (status == MO_OK)
        status = find_alignment(d, &alignment);
    for (uint64_t i = 0; i < n_tensors && status == MO_OK; i++)
        status = take_tensor(d, alignment, &expected);
    d->header->is_big_endian = d->is_big_endian;
    if (status == MO_OK)
        d->header->data_offset =
            d->at + (alignment - d->at % alignment) % alignment;
    return status;
}

mo_status mo_gguf_header_read(mo_input *input, mo_arena *arena,
                              mo_gguf_header *header, mo_error *err)
{
    decoder d = { .input = input,
                  .arena = arena,
                  .names = mo_intern_new(arena),
                  .header = header,
                  .err = err };
    mo_status status = d.names ? take_all(&d) : mo_fail_memory(err);

    mo_intern_free(d.names);
    return status;
}

void mo_gguf_header_clear(mo_gguf_header *header)
{
    free(header->values);
    free(header->tensors);
    *header = (mo_gguf_header){ 0 };
}

const mo_gguf_value *mo_gguf_header_find(const mo_gguf_header *header,
                                         const char *key)
{
    for (size_t i = 0; i < header->n_values; i++)
        if (strcmp(header->values[i].key, key) == 0)
            return &header->values[i];
    return NULL;
}
