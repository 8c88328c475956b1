/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/*
 * A list of blocks, the one being filled in front. Block sizes double from
 * small to large, so that a tiny graph costs little and a big one few calls. A
 * request too large to share a block gets one of its own, inserted behind the
 * front one, whose rest stays in use.
 *
 * Blocks come zeroed from calloc and no byte is returned twice, so nothing is
 * ever cleared here.
 */
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
enum { FIRST_BLOCK = 2 * 1024, LAST_BLOCK = 4 * 1024 * 1024 };
#else
enum { FIRST_BLOCK = 64 * 1024, LAST_BLOCK = 4 * 1024 * 1024 };
#endif

typedef struct block {
    struct block *next;
    size_t size, used;
    max_align_t data[];
} block;

struct mo_arena {
    block *front;
    size_t next_size; /* of the next shared block */
    size_t bytes;
};

mo_arena *mo_arena_new(void)
{
    mo_arena *arena = calloc(1, sizeof *arena);

    if (arena)
        arena->next_size = FIRST_BLOCK;
    return arena;
}

void mo_arena_free(mo_arena *arena)
{
    if (!arena)
        return;
    for (block *b = arena->front; b;) {
        block *next = b->next;

        free(b);
        b = next;
    }
    free(arena);
}

static block *new_block(mo_arena *arena, size_t size)
{
    size_t whole;
    block *b;

    if (!mo_size_add(size, sizeof *b, &whole))
        return NULL;
    b = calloc(1, whole);
    if (!b)
        return NULL;
    b->size = size;
    arena->bytes += whole;
    return b;
}

static void *alloc_alone(mo_arena *arena, size_t size)
{
    block *b = new_block(arena, size);

    if (!b)
        return NULL;
    b->used = size;
    if (arena->front) {
        b->next = arena->front->next;
        arena->front->next = b;
    } else {
        arena->front = b;
    }
    return b->data;
}

static void *alloc_in_new_front(mo_arena *arena, size_t size)
{
    block *b = new_block(arena, arena->next_size);

    if (!b)
        return NULL;
    b->used = size;
    b->next = arena->front;
    arena->front = b;
    if (arena->next_size < LAST_BLOCK)
        arena->next_size *= 2;
    return b->data;
}

/* alignment is a power of two. */
static void *alloc_aligned(mo_arena *arena, size_t size, size_t alignment)
{
    block *b = arena->front;

    if (b) {
        size_t at = (b->used + alignment - 1) & ~(alignment - 1);

        if (at <= b->size && size <= b->size - at) {
            b->used = at + size;
            return (char *) b->data + at;
        }
    }
    if (size > arena->next_size / 4)
        return alloc_alone(arena, size);
    return alloc_in_new_front(arena, size);
}

void *mo_arena_alloc(mo_arena *arena, size_t size)
{
    return alloc_aligned(arena, size, _Alignof(max_align_t));
}

void *mo_arena_array(mo_arena *arena, size_t count, size_t size)
{
    size_t whole;

    if (!mo_size_mul(count, size, &whole))
        return NULL;
    return mo_arena_alloc(arena, whole);
}

char *mo_arena_text(mo_arena *arena, const char *text, size_t length)
{
    size_t whole;
    char *copy;

    /* Texts are not aligned: there are millions, and most are short. */
    if (!mo_size_add(length, 1, &whole))
        return NULL;
    copy = alloc_aligned(arena, whole, 1);
    if (copy && length > 0)
        memcpy(copy, text, length);
    return copy;
}

size_t mo_arena_bytes(const mo_arena *arena)
{
    return sizeof *arena + arena->bytes;
}
