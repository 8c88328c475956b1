/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/tensor/npy_header.h"

#include <stdio.h>
#include <string.h>

#include "base/number.h"

/*
 *     \x93NUMPY  version (2 bytes)  length of the rest (2 bytes, from version
 *     2 on 4)  {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }\n
 *
 * The rest is a Python literal of these three keys, in any order.
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

/* The literal, and how much of it was read. */
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

/* Takes c, with space before it, if it comes next. */
static bool take(scanner *s, char c)
{
    skip_space(s);
    if (s->at == s->end || *s->at != c)
        return false;
    s->at++;
    return true;
}

static bool take_quoted(scanner *s, quoted *q)
{
    char mark = take(s, '\'') ? '\'' : take(s, '"') ? '"' : '\0';
    const char *end =
        mark ? memchr(s->at, mark, (size_t) (s->end - s->at)) : NULL;

    if (!end)
        return false;
    *q = (quoted){ s->at, (size_t) (end - s->at) };
    s->at = end + 1;
    return true;
}

static bool take_word(scanner *s, const char *word)
{
    size_t length = strlen(word);

    skip_space(s);
    if ((size_t) (s->end - s->at) < length || memcmp(s->at, word, length) != 0)
        return false;
    s->at += length;
    return true;
}

static bool is(const quoted *q, const char *text)
{
    return q->length == strlen(text) && memcmp(q->text, text, q->length) == 0;
}

static mo_status refuse(mo_error *err)
{
    return mo_fail(err, MO_E_SYNTAX,
                   "has a header that numpy.save does not write; save the "
                   "array again");
}

/* Little-endian, or nothing to be in order. */
static bool is_our_order(char order, size_t bytes)
{
    return order == '<' || order == '|' || order == '=' ||
           (order == '>' && bytes == 1);
}

static mo_status read_type(scanner *s, mo_npy_header *header, mo_error *err)
{
    quoted q;

    if (take(s, '['))
        return mo_fail(err, MO_E_SUPPORT,
                       "has elements of several fields; save one of them");
    if (!take_quoted(s, &q))
        return refuse(err);
    for (int i = 0; i < N_TYPES && q.length == 3; i++) {
        quoted code = { q.text + 1, 2 };

        if (!is(&code, types[i].code))
            continue;
        header->desc.elem = types[i].elem;
        if (is_our_order(q.text[0], mo_elem_size(types[i].elem)))
            return MO_OK;
    }
    return mo_fail(err, MO_E_SUPPORT,
                   "has elements of type '%.*s'; save it as little-endian "
                   "float, integer or bool",
                   q.length > 40 ? 40 : (int) q.length, q.text);
}

static mo_status read_order(scanner *s, mo_npy_header *header, mo_error *err)
{
    if (take_word(s, "True"))
        header->columns_first = true;
    else if (!take_word(s, "False"))
        return refuse(err);
    return MO_OK;
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
        return refuse(err);
    if (shape->rank == MO_MAX_RANK)
        return mo_fail(err, MO_E_LIMIT, "has more than %d dimensions",
                       MO_MAX_RANK);
    shape->dims[shape->rank++] = dim;
    return MO_OK;
}

static mo_status read_shape(scanner *s, mo_npy_header *header, mo_error *err)
{
    mo_shape *shape = &header->desc.shape;
    mo_status status = take(s, '(') ? MO_OK : refuse(err);
    bool closed = false;

    shape->rank = 0;
    while (status == MO_OK && !closed) {
        closed = take(s, ')');
        if (!closed)
            status = read_dimension(s, shape, err);
        if (status == MO_OK && !closed && !take(s, ',')) {
            closed = take(s, ')');
            status = closed ? MO_OK : refuse(err);
        }
    }
    if (status == MO_OK && !mo_shape_fits(shape))
        status = mo_fail(err, MO_E_LIMIT, "has more elements than can be");
    return status;
}

enum { HAS_TYPE = 1, HAS_ORDER = 2, HAS_SHAPE = 4, HAS_ALL = 7 };

static mo_status read_member(scanner *s, mo_npy_header *header, int *has,
                             mo_error *err)
{
    quoted key;

    if (!take_quoted(s, &key) || !take(s, ':'))
        return refuse(err);
    if (is(&key, "descr")) {
        *has |= HAS_TYPE;
        return read_type(s, header, err);
    }
    if (is(&key, "fortran_order")) {
        *has |= HAS_ORDER;
        return read_order(s, header, err);
    }
    if (is(&key, "shape")) {
        *has |= HAS_SHAPE;
        return read_shape(s, header, err);
    }
    return refuse(err);
}

static mo_status read_literal(scanner *s, mo_npy_header *header, mo_error *err)
{
    mo_status status = take(s, '{') ? MO_OK : refuse(err);
    int has = 0;

    while (status == MO_OK && !take(s, '}')) {
        status = read_member(s, header, &has, err);
        if (status == MO_OK && !take(s, ',') &&
            !(s->at < s->end && *s->at == '}'))
            status = refuse(err);
    }
    return status == MO_OK && has != HAS_ALL ? refuse(err) : status;
}

mo_status mo_npy_header_read(const void *data, size_t size,
                             mo_npy_header *header, mo_error *err)
{
    const unsigned char *bytes = data;
    size_t front, length;
    scanner s;

    *header = (mo_npy_header){ .data = 0 };
    if (size < SHORT_FRONT || memcmp(bytes, magic, MAGIC_SIZE) != 0)
        return mo_fail(err, MO_E_SYNTAX,
                       "is no .npy file; write one with numpy.save");
    if (bytes[6] < 1 || bytes[6] > 3)
        return mo_fail(err, MO_E_SUPPORT,
                       "is a .npy file of version %d; save it as version 1",
                       bytes[6]);
    front = bytes[6] == 1 ? SHORT_FRONT : LONG_FRONT;
    if (size < front)
        return refuse(err);
    length = bytes[8] | (size_t) bytes[9] << 8;
    if (front == LONG_FRONT)
        length |= (size_t) bytes[10] << 16 | (size_t) bytes[11] << 24;
    if (length > size - front)
        return mo_fail(err, MO_E_INPUT, "ends within its header");
    s.at = (const char *) bytes + front;
    s.end = s.at + length;
    header->data = front + length;
    return read_literal(&s, header, err);
}

static const char *code_of(mo_elem elem)
{
    int i = 0;

    while (i < N_TYPES - 1 && types[i].elem != elem)
        i++;
    return types[i].code;
}

/* Padded so that the numbers begin at a multiple of 64 bytes. */
void mo_npy_header_write(const mo_tensor_desc *desc, mo_out *out)
{
    char text[MO_SHAPE_TEXT_SIZE + 128];
    bool wide = mo_elem_size(desc->elem) > 1;
    int n = snprintf(text, sizeof text,
                     "{'descr': '%c%s', 'fortran_order': False, 'shape': (",
                     wide ? '<' : '|', code_of(desc->elem));
    int padding;

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
