/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire_mutator.c - structure-aware mutator of protocol buffers, without their
 * schema.
 *
 * Bytes that change inside a message change the lengths of all messages around
 * it; a mutator of plain bytes leaves those as they were, so that nearly all of
 * its inputs end in the decoder.  Here one field is replaced, repeated, removed
 * or overwritten by another one, and the lengths around it are written anew.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
                               unsigned seed);

enum { MAX_FIELDS = 1024, MAX_DEPTH = 12, MAX_SIZE = 1 << 14 };

enum { WIRE_VARINT, WIRE_64, WIRE_LENGTH, WIRE_32 = 5 };

typedef struct wire_field {
    size_t tag, length, body, end; /* offsets; length: where that begins */
    int parent;                    /* -1: the top message */
    int wire;
} wire_field;

typedef struct wire_fields {
    wire_field at[MAX_FIELDS];
    int n;
} wire_fields;

static bool read_varint(const uint8_t *data, size_t *at, size_t end,
                        uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; *at < end && shift < 64; shift += 7) {
        uint8_t byte = data[(*at)++];

        *value |= (uint64_t) (byte & 0x7f) << shift;
        if (byte < 0x80)
            return true;
    }
    return false;
}

static size_t write_varint(uint8_t *to, uint64_t value)
{
    size_t n = 0;

    for (; value >= 0x80; value >>= 7)
        to[n++] = (uint8_t) (value | 0x80);
    to[n++] = (uint8_t) value;
    return n;
}

/* Appends the fields of data[at, end), and those inside of what reads as a
 * message.  Returns false, with nothing appended, unless all of it does. */
static bool list_fields(const uint8_t *data, size_t at, size_t end, int parent,
                        int depth, wire_fields *list)
{
    int before = list->n;
    bool fits = depth < MAX_DEPTH;

    while (fits && at < end) {
        wire_field f = { .tag = at, .parent = parent };
        uint64_t tag, value = 0;
        int me = list->n;

        fits = me < MAX_FIELDS && read_varint(data, &at, end, &tag) &&
               tag >> 3 > 0 && tag >> 3 < 64;
        if (!fits)
            break;
        f.wire = (int) (tag & 7);
        f.length = f.body = at;
        if (f.wire == WIRE_VARINT || f.wire == WIRE_LENGTH)
            fits = read_varint(data, &at, end, &value);
        if (f.wire == WIRE_LENGTH)
            f.body = at;
        else
            value = f.wire == WIRE_64 ? 8 : f.wire == WIRE_32 ? 4 : 0;
        if (!fits || (f.wire != WIRE_VARINT && value > end - at) ||
            f.wire > WIRE_32 || f.wire == 3 || f.wire == 4) {
            fits = false;
            break;
        }
        f.end = at += (size_t) value;
        list->at[list->n++] = f;
        if (f.wire == WIRE_LENGTH && f.end > f.body)
            list_fields(data, f.body, f.end, me, depth + 1, list);
    }
    if (!fits)
        list->n = before;
    return fits;
}

/* Writes field f of data with other contents to out; 0 where there is no room
 * for them. */
static size_t with_body(const uint8_t *data, const wire_field *f,
                        const uint8_t *body, size_t n_body, uint8_t *out)
{
    size_t n = f->length - f->tag;

    if (n + n_body + 10 > MAX_SIZE)
        return 0;
    memcpy(out, data + f->tag, n);
    if (f->wire == WIRE_LENGTH)
        n += write_varint(out + n, n_body);
    memcpy(out + n, body, n_body);
    return n + n_body;
}

/* The new form of field f, with its tag: none, twice, another field of the
 * input, or other contents. */
static size_t draw_field(const uint8_t *data, const wire_fields *list,
                         const wire_field *f, unsigned dice, uint8_t *out)
{
    const wire_field *other = &list->at[(dice >> 8) % (unsigned) list->n];
    uint8_t body[MAX_SIZE];
    size_t size = f->end - f->tag, n = f->end - f->body;

    switch (dice % 8) {
    case 0:
        return 0;
    case 1:
        if (2 * size > MAX_SIZE)
            return 0;
        memcpy(out, data + f->tag, size);
        memcpy(out + size, data + f->tag, size);
        return 2 * size;
    case 2:
    case 3:
        if (other->wire == f->wire)
            return with_body(data, f, data + other->body,
                             other->end - other->body, out);
        memcpy(out, data + other->tag, other->end - other->tag);
        return other->end - other->tag;
    default:
        break;
    }
    memcpy(body, data + f->body, n);
    if (f->wire == WIRE_VARINT) {
        static const uint64_t values[] = {
            0, 1, 2, 3, 7, 16, 255, UINT32_MAX, UINT64_MAX, INT64_MAX
        };

        n = write_varint(body, dice % 8 == 4 ? values[(dice >> 8) % 10]
                                             : (dice >> 8) % 24);
    } else {
        size_t room = f->wire == WIRE_LENGTH ? n + 16 : n;

        if (room > MAX_SIZE)
            return 0;
        n = LLVMFuzzerMutate(body, n, room);
        if (f->wire != WIRE_LENGTH)
            n = f->end - f->body;
    }
    return with_body(data, f, body, n, out);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
                               unsigned seed)
{
    static wire_fields list;
    static uint8_t piece[MAX_SIZE], next[MAX_SIZE];
    unsigned dice = seed * 2654435761u;
    const wire_field *f;
    size_t n;

    list.n = 0;
    if (size > MAX_SIZE / 4 || dice >> 29 == 0 ||
        !list_fields(data, 0, size, -1, 0, &list) || list.n == 0)
        return LLVMFuzzerMutate(data, size, max_size);
    f = &list.at[(dice >> 4) % (unsigned) list.n];
    n = draw_field(data, &list, f, seed * 2246822519u >> 7, piece);
    for (;;) {
        const wire_field *around = f->parent < 0 ? NULL : &list.at[f->parent];
        size_t from = around ? around->body : 0;
        size_t to = around ? around->end : size;
        size_t head = f->tag - from, tail = to - f->end;

        if (head + n + tail > MAX_SIZE)
            return LLVMFuzzerMutate(data, size, max_size);
        memcpy(next, data + from, head);
        memcpy(next + head, piece, n);
        memcpy(next + head + n, data + f->end, tail);
        n += head + tail;
        if (!around)
            break;
        n = with_body(data, around, next, n, piece);
        f = around;
    }
    if (n == 0 || n > max_size)
        return LLVMFuzzerMutate(data, size, max_size);
    memcpy(data, next, n);
    return n;
}
