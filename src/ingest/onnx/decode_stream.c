/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes, texts and lists of numbers of an ONNX model. */
#include <config.h>

#include "ingest/onnx/decode_internal.h"

#include <string.h>

enum {
    MAX_TEXT = 1 << 20, /* bytes of a name or text */
    MAX_TYPED = 1 << 22 /* typed elements of one tensor */
};

bool mo_onnx_decode_fail(mo_onnx_decoder *d, mo_status status, const char *text)
{
    if (d->status == MO_OK)
        d->status =
            mo_fail_at(d->err, status, mo_input_name(d->input), 0, "%s", text);
    return false;
}

bool mo_onnx_decode_fail_memory(mo_onnx_decoder *d)
{
    if (d->status == MO_OK)
        d->status = mo_fail_memory(d->err);
    return false;
}

/* Callback of nanopb: the next bytes of the file; of the top message, no bytes
 * left are its end. */
bool mo_onnx_decode_bytes(pb_istream_t *stream, pb_byte_t *to, size_t count)
{
    mo_onnx_decoder *d = stream->state;

    while (count > 0) {
        size_t n = count < d->n_block ? count : d->n_block;

        if (n == 0) {
            mo_status status =
                mo_input_next(d->input, &d->block, &d->n_block, d->err);

            if (status != MO_OK)
                d->status = status;
            if (status == MO_OK && d->n_block == 0 && stream == d->top)
                stream->bytes_left = 0;
            if (status != MO_OK || d->n_block == 0)
                return false;
            continue;
        }
        if (to) {
            memcpy(to, d->block, n);
            to += n;
        }
        d->block += n;
        d->n_block -= n;
        d->offset += (int64_t) n;
        count -= n;
    }
    return true;
}

/* A field of a wrong wire type is a buffer of nanopb's own. */
bool mo_onnx_decode_is_file(const pb_istream_t *stream)
{
    return stream->callback == mo_onnx_decode_bytes;
}

/* Consumes the rest of a message's stream without nanopb's small pieces. */
bool mo_onnx_decode_skip(pb_istream_t *stream)
{
    size_t count = stream->bytes_left;

    if (!mo_onnx_decode_is_file(stream) ||
        !mo_onnx_decode_bytes(stream, NULL, count))
        return false;
    stream->bytes_left = 0;
    return true;
}

/* Returns room for one more item of an array in the arena, zeroed. */
void *mo_onnx_decode_append(mo_onnx_decoder *d, void **items, size_t *n,
                            size_t size)
{
    size_t count = *n;

    /* At powers of two the array is full. */
    if ((count & (count - 1)) == 0) {
        void *grown = mo_arena_array(d->arena, count > 0 ? 2 * count : 1, size);

        if (!grown) {
            mo_onnx_decode_fail_memory(d);
            return NULL;
        }
        if (count > 0)
            memcpy(grown, *items, count * size);
        *items = grown;
    }
    (*n)++;
    return (char *) *items + count * size;
}

static bool take_text(mo_onnx_decoder *d, pb_istream_t *stream,
                      const char **text)
{
    size_t size = stream->bytes_left;
    char *copy;

    if (size > MAX_TEXT)
        return mo_onnx_decode_fail(
            d, MO_E_LIMIT,
            "has a text of more than 1 MiB; it is damaged, or "
            "no ONNX model");
    copy = mo_arena_alloc(d->arena, size + 1);
    if (!copy)
        return mo_onnx_decode_fail_memory(d);
    *text = copy;
    return pb_read(stream, (pb_byte_t *) copy, size);
}

bool mo_onnx_decode_text(pb_istream_t *stream, const pb_field_t *field,
                         void **arg)
{
    const mo_onnx_target *t = *arg;

    (void) field;
    return take_text(t->d, stream, t->to);
}

bool mo_onnx_decode_texts(pb_istream_t *stream, const pb_field_t *field,
                          void **arg)
{
    const mo_onnx_target *t = *arg;
    mo_onnx_text_list *list = t->to;
    const char **text = MO_ONNX_APPEND(t->d, list->items, list->n);

    (void) field;
    return text && take_text(t->d, stream, text);
}

bool mo_onnx_decode_count(pb_istream_t *stream, const pb_field_t *field,
                          void **arg)
{
    const mo_onnx_target *t = *arg;

    (void) field;
    ++*(size_t *) t->to;
    return mo_onnx_decode_skip(stream);
}

static bool check_typed(mo_onnx_decoder *d, size_t n)
{
    if (n < MAX_TYPED)
        return true;
    return mo_onnx_decode_fail(
        d, MO_E_LIMIT,
        "has a list of more than 4 million typed numbers; "
        "save its tensors as raw_data");
}

bool mo_onnx_decode_ints(pb_istream_t *stream, const pb_field_t *field,
                         void **arg)
{
    const mo_onnx_target *t = *arg;
    mo_onnx_number_list *list = t->to;

    (void) field;
    while (stream->bytes_left > 0) {
        uint64_t value;
        int64_t *to;

        if (!check_typed(t->d, list->n_ints) ||
            !pb_decode_varint(stream, &value))
            return false;
        to = MO_ONNX_APPEND(t->d, list->ints, list->n_ints);
        if (!to)
            return false;
        *to = (int64_t) value;
    }
    return true;
}

bool mo_onnx_decode_real(mo_onnx_decoder *d, mo_onnx_number_list *list,
                         double value)
{
    double *to = check_typed(d, list->n_reals)
                     ? MO_ONNX_APPEND(d, list->reals, list->n_reals)
                     : NULL;

    if (to)
        *to = value;
    return to != NULL;
}

bool mo_onnx_decode_floats(pb_istream_t *stream, const pb_field_t *field,
                           void **arg)
{
    const mo_onnx_target *t = *arg;

    (void) field;
    while (stream->bytes_left > 0) {
        float value;

        if (!pb_decode_fixed32(stream, &value) ||
            !mo_onnx_decode_real(t->d, t->to, (double) value))
            return false;
    }
    return true;
}
