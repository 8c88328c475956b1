/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena.h - arena (region) allocator: everything is freed at once.
 *
 * A graph has millions of small strings and arrays with the lifetime of the
 * graph. They come from one arena: an allocation advances a pointer, and one
 * call frees all. Pointers stay valid until then.
 */
#ifndef MO_BASE_ARENA_H
#define MO_BASE_ARENA_H

#include <stddef.h>

typedef struct mo_arena mo_arena;

/* Returns an empty arena, or NULL when memory is exhausted. The caller frees
 * it with mo_arena_free(), which accepts NULL. */
mo_arena *mo_arena_new(void);
void mo_arena_free(mo_arena *arena);

/* Returns size bytes, zeroed, aligned for any type, owned by the arena; NULL
 * when memory is exhausted. A size of 0 gives a valid pointer. */
void *mo_arena_alloc(mo_arena *arena, size_t size);

/* Returns count * size zeroed bytes; NULL on overflow, too. */
void *mo_arena_array(mo_arena *arena, size_t count, size_t size);

/* Returns a copy of the length bytes at text with a terminating 0, or NULL. */
char *mo_arena_text(mo_arena *arena, const char *text, size_t length);

/* Returns the number of bytes the arena has allocated from the system. */
size_t mo_arena_bytes(const mo_arena *arena);

#endif
