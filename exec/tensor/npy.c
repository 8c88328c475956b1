/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/tensor/npy.h"

#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "exec/tensor/mmap_file.h"

/*
 *     \x93NUMPY  version (2 bytes)  length of the rest (2 bytes, from version
 *     2 on 4)  {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }\n
 *
 * The rest is a Python dict literal of these three keys, in any
 * order.
 */
static const char magic[] = "\x93NUMPY";
enum { MAGIC_SIZE = 6, SHORT_FRONT = 10, LONG_FRONT = 12, ALIGNMENT = 64 };

static const struct {
    const char *code; /* kind and bytes */
    mo_elem elem;
} types[] = {
    { "b1", MO_ELEM_BOOL }, { "f4", MO_ELEM_F32 }, { "f8", MO_ELEM_F64 },
    { "f2", MO_ELEM_F16 },  { "i8", MO_ELEM_I64 }, { "i4", MO_ELEM_I32 },
    { "i2", MO_ELEM_I16 },  { "i1", MO_ELEM_I8 },  { "u8", MO_ELEM_U64 },
    { "u4", MO_ELEM_U32 },  { "u2", MO_ELEM_U16 }, { "u1", MO_ELEM_U8 },
};

enum { N_TYPES = sizeof types / sizeof *types };

typedef struct npy_header {
    mo_tensor_desc desc;
    bool fortran_order;
    size_t data; /* offset of the elements */
} npy_header;

/* The literal and the read position in it. */
typedef struct scanner {
    const char *at, *end;
} scanner;

typedef struct quoted {
    const char *text;
    size_t length;
} quoted;

static void skip_space(scanner *s)
{
    while (s->at < s->end && strchr(" \t\r\n", *s->at) && *s->at)
        s->at++;
}

/* Consumes c and white space before it if c comes next. */
static bool accept_char(scanner *s, char c)
{
    skip_space(s);
    if (s->at == s->end || *s->at != c)
        return false;
    s->at++;
    return true;
}

static bool accept_quoted(scanner *s, quoted *q)
{
    char mark = accept_char(s, '\'') ? '\'' : accept_char(s, '"') ? '"' : '\0';
    const char *end =
        mark ? memchr(s->at, mark, (size_t) (s->end - s->at)) : NULL;

    if (!end)
        return false;
    *q = (quoted){ s->at, (size_t) (end - s->at) };
    s->at = end + 1;
    return true;
}

static bool accept_word(scanner *s, const char *word)
{
    size_t length = strlen(word);

    skip_space(s);
    if ((size_t) (s->end - s->at) < length || memcmp(s->at, word, length) != 0)
        return false;
    s->at += length;
    return true;
}

static bool quoted_equals(const quoted *q, const char *text)
{
    return q->length == strlen(text) && memcmp(q->text, text, q->length) == 0;
}

static mo_status fail_header(mo_error *err)
{
    return mo_fail(err, MO_E_SYNTAX,
                   "has a header that numpy.save does not write; save the "
                   "array again");
}

static mo_status read_type(scanner *s, npy_header *header, mo_error *err)
{
    quoted q;

    if (accept_char(s, '['))
        return mo_fail(err, MO_E_SUPPORT,
                       "has elements of several fields; save one of them");
    if (!accept_quoted(s, &q))
        return fail_header(err);
    for (int i = 0; i < N_TYPES && q.length == 3; i++) {
        quoted code = { q.text + 1, 2 };
        char order = q.text[0];

        if (!quoted_equals(&code, types[i].code))
            continue;
        header->desc.elem = types[i].elem;
        /* Little endian, native, or one byte. */
        if (order == '<' || order == '|' || order == '=' ||
            (order == '>' && mo_elem_size(types[i].elem) == 1))
            return MO_OK;
    }
    return mo_fail(err, MO_E_SUPPORT,
                   "has elements of type '%.*s'; save it as little-endian "
                   "float, integer or bool",
                   q.length > 40 ? 40 : (int) q.length, q.text);
}

static mo_status read_dimension(scanner *s, mo_shape *shape, mo_error *err)
{
    const char *digits;
    int64_t dim;

    skip_space(s);
    digits = s->at;
    while (s->at < s->end && *s->at >= '0' && *s->at <= '9')
        s->at++;
    if (mo_number_read_int(digits, (size_t) (s->at - digits), &dim) !=
        MO_NUMBER_OK)
        return fail_header(err);
    if (shape->rank == MO_MAX_RANK)
        return mo_fail(err, MO_E_LIMIT, "has more than %d dimensions",
                       MO_MAX_RANK);
    shape->dims[shape->rank++] = dim;
    return MO_OK;
}

static mo_status read_shape(scanner *s, npy_header *header, mo_error *err)
{
    mo_shape *shape = &header->desc.shape;
    mo_status status = accept_char(s, '(') ? MO_OK : fail_header(err);
    bool closed = false;

    shape->rank = 0;
    while (status == MO_OK && !closed) {
        closed = accept_char(s, ')');
        if (!closed)
            status = read_dimension(s, shape, err);
        if (status == MO_OK && !closed && !accept_char(s, ',')) {
            closed = accept_char(s, ')');
            status = closed ? MO_OK : fail_header(err);
        }
    }
    if (status == MO_OK && !mo_shape_fits(shape))
        status = mo_fail(err, MO_E_LIMIT, "has more elements than can be");
    return status;
}

enum { HAS_TYPE = 1, HAS_ORDER = 2, HAS_SHAPE = 4, HAS_ALL = 7 };

static mo_status read_member(scanner *s, npy_header *header, int *has,
                             mo_error *err)
{
    quoted key;

    if (!accept_quoted(s, &key) || !accept_char(s, ':'))
        return fail_header(err);
    if (quoted_equals(&key, "descr")) {
        *has |= HAS_TYPE;
        return read_type(s, header, err);
    }
    if (quoted_equals(&key, "fortran_order")) {
        *has |= HAS_ORDER;
        if (accept_word(s, "True"))
            header->fortran_order = true;
        else if (!accept_word(s, "False"))
            return fail_header(err);
        return MO_OK;
    }
    if (quoted_equals(&key, "shape")) {
        *has |= HAS_SHAPE;
        return read_shape(s, header, err);
    }
    return fail_header(err);
}

size_t mo_npy_header_size(const unsigned char front[MO_NPY_FRONT_SIZE])
{
    size_t length = front[8] | (size_t) front[9] << 8;

    if (memcmp(front, magic, MAGIC_SIZE) != 0 || front[6] < 1 || front[6] > 3)
        return 0;
    if (front[6] == 1)
        return SHORT_FRONT + length;
    length |= (size_t) front[10] << 16 | (size_t) front[11] << 24;
    return LONG_FRONT + length;
}

/* Parses the header in a buffer of size bytes. Errors carry no file name; the
 * caller adds it. */
static mo_status read_header(const void *data, size_t size, npy_header *header,
                             mo_error *err)
{
    unsigned char front[MO_NPY_FRONT_SIZE] = { 0 };
    scanner s;

    *header = (npy_header){ .data = 0 };
    memcpy(front, data, size < sizeof front ? size : sizeof front);
    if (size < SHORT_FRONT || memcmp(front, magic, MAGIC_SIZE) != 0)
        return mo_fail(err, MO_E_SYNTAX,
                       "is no .npy file; write one with numpy.save");
    header->data = mo_npy_header_size(front);
    if (header->data == 0)
        return mo_fail(err, MO_E_SUPPORT,
                       "is a .npy file of version %d; save it as version 1",
                       front[6]);
    if (header->data > size)
        return mo_fail(err, MO_E_INPUT, "ends within its header");
    s.at = (const char *) data + (front[6] == 1 ? SHORT_FRONT : LONG_FRONT);
    s.end = (const char *) data + header->data;

    mo_status status = accept_char(&s, '{') ? MO_OK : fail_header(err);
    int has = 0;

    while (status == MO_OK && !accept_char(&s, '}')) {
        status = read_member(&s, header, &has, err);
        if (status == MO_OK && !accept_char(&s, ',') &&
            !(s.at < s.end && *s.at == '}'))
            status = fail_header(err);
    }
    return status == MO_OK && has != HAS_ALL ? fail_header(err) : status;
}

mo_status mo_npy_parse_header(const void *data, size_t size,
                              mo_tensor_desc *desc, mo_error *err)
{
    npy_header header;
    mo_status status = read_header(data, size, &header, err);

    if (status == MO_OK)
        *desc = header.desc;
    return status;
}

/* Writes a header of version 1 in C order, padded so that the data begins at a
 * multiple of 64 bytes; the element type must not be bf16. */
static void write_header(const mo_tensor_desc *desc, mo_out *out)
{
    char text[MO_SHAPE_TEXT_SIZE + 128];
    bool wide = mo_elem_size(desc->elem) > 1;
    int type = 0, n, padding;

    while (type < N_TYPES - 1 && types[type].elem != desc->elem)
        type++;
    n = snprintf(text, sizeof text,
                 "{'descr': '%c%s', 'fortran_order': False, 'shape': (",
                 wide ? '<' : '|', types[type].code);
    n += (int) mo_shape_write(&desc->shape, text + n);
    n += snprintf(text + n, sizeof text - (size_t) n, "%s), }",
                  desc->shape.rank == 1 ? "," : "");
    padding = ALIGNMENT - (SHORT_FRONT + n + 1) % ALIGNMENT;
    mo_out_bytes(out, magic, MAGIC_SIZE);
    mo_out_char(out, 1);
    mo_out_char(out, 0);
    mo_out_char(out, (char) ((n + padding + 1) & 0xff));
    mo_out_char(out, (char) ((n + padding + 1) >> 8));
    mo_out_printf(out, "%.*s%*s\n", n, text, padding, "");
}

/* Converts Fortran order to row-major order: index counts in row-major order,
 * at follows it in the file's. */
static void copy_fortran_order(const char *from, mo_tensor_dense *dense)
{
    const mo_shape *shape = &dense->desc.shape;
    size_t bytes = mo_elem_size(dense->desc.elem);
    int64_t index[MO_MAX_RANK] = { 0 }, stride[MO_MAX_RANK], at = 0;
    int64_t n = mo_tensor_desc_elements(&dense->desc);
    char *to = dense->data;

    for (int d = 0; d < shape->rank; d++)
        stride[d] = d == 0 ? 1 : stride[d - 1] * shape->dims[d - 1];
    for (int64_t i = 0; i < n; i++) {
        int d = shape->rank - 1;

        memcpy(to + (size_t) i * bytes, from + (size_t) at * bytes, bytes);
        while (d >= 0 && ++index[d] == shape->dims[d]) {
            at -= stride[d] * (index[d] - 1);
            index[d--] = 0;
        }
        if (d >= 0)
            at += stride[d];
    }
}

static mo_status read_elements(const npy_header *header, const char *from,
                               size_t size, mo_tensor_dense *dense,
                               mo_error *err)
{
    size_t bytes = (size_t) mo_tensor_desc_bytes(&header->desc);
    unsigned char *to;
    mo_status status;

    if (bytes > size)
        return mo_fail(err, MO_E_INPUT,
                       "ends too early: its header needs %zu bytes of numbers, "
                       "it has %zu; was it cut?",
                       bytes, size);
    status = mo_tensor_new(&header->desc, dense, err);
    if (status != MO_OK)
        return status;
    if (header->fortran_order)
        copy_fortran_order(from, dense);
    else if (bytes > 0)
        memcpy(dense->data, from, bytes);
    to = dense->data;
    /* Every byte that is not 0 becomes 1. */
    for (size_t i = 0; i < bytes && header->desc.elem == MO_ELEM_BOOL; i++)
        to[i] = to[i] != 0;
    return MO_OK;
}

mo_status mo_npy_read_memory(const char *file, const void *data, size_t size,
                             mo_tensor_dense *dense, mo_error *err)
{
    npy_header header;
    mo_status status = read_header(data, size, &header, err);

    *dense = (mo_tensor_dense){ 0 };
    if (status == MO_OK)
        status = read_elements(&header, (const char *) data + header.data,
                               size - header.data, dense, err);
    if (status != MO_OK)
        mo_error_set_location(err, file, 0);
    return status;
}

mo_status mo_npy_read(const char *path, mo_tensor_dense *dense, mo_error *err)
{
    mo_mmap_file mapped;
    mo_status status = mo_mmap_file_open(path, &mapped, err);

    *dense = (mo_tensor_dense){ 0 };
    if (status == MO_OK)
        status = mo_npy_read_memory(path, mapped.data, mapped.size, dense, err);
    if (status == MO_OK) {
        status = mo_mmap_file_check(&mapped, err);
        if (status != MO_OK)
            mo_tensor_clear(dense);
    }
    mo_mmap_file_close(&mapped);
    return status;
}

mo_status mo_npy_read_desc(const char *path, mo_tensor_desc *desc,
                           mo_error *err)
{
    npy_header header;
    mo_mmap_file mapped;
    mo_status status = mo_mmap_file_open(path, &mapped, err);

    if (status == MO_OK) {
        status = read_header(mapped.data, mapped.size, &header, err);
        if (status != MO_OK)
            mo_error_set_location(err, path, 0);
    }
    if (status == MO_OK)
        status = mo_mmap_file_check(&mapped, err);
    mo_mmap_file_close(&mapped);
    if (status == MO_OK)
        *desc = header.desc;
    return status;
}

void mo_npy_write_to(const mo_tensor_dense *dense, mo_out *out)
{
    mo_tensor_desc desc = dense->desc;

    if (desc.elem == MO_ELEM_BF16)
        desc.elem = MO_ELEM_F32;
    write_header(&desc, out);
    if (desc.elem != dense->desc.elem) {
        int64_t n = mo_tensor_desc_elements(&dense->desc);

        for (int64_t i = 0; i < n; i++) {
            float x = (float) mo_tensor_get_double(dense, i);
            char bytes[sizeof x];

            memcpy(bytes, &x, sizeof x);
            mo_out_bytes(out, bytes, sizeof bytes);
        }
    } else if (dense->data) /* NULL: no elements */
        mo_out_bytes(out, dense->data, (size_t) mo_tensor_desc_bytes(&desc));
}

mo_status mo_npy_write(const char *path, const mo_tensor_dense *dense,
                       mo_error *err)
{
    mo_out *out;
    mo_status status = mo_out_open(path, &out, err);

    if (status != MO_OK)
        return status;
    mo_npy_write_to(dense, out);
    return mo_out_commit(out, err);
}
