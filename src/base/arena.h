/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena.h - memory that is given back all at once.
 *
 * A graph has millions of little strings and arrays that live exactly as long
 * as it does.  They come from one arena: allocation is a pointer bump, and the
 * end is one call.  Pointers stay valid until then.
 */
#ifndef MO_BASE_ARENA_H
#define MO_BASE_ARENA_H

#include <stddef.h>

typedef struct mo_arena mo_arena;

/* An empty arena, or NULL when there is no memory. */
mo_arena *mo_arena_new(void);
void mo_arena_free(mo_arena *arena);

/* size bytes, zeroed, aligned for any type; NULL when there is no memory.
 * A size of 0 gives a valid pointer. */
void *mo_arena_alloc(mo_arena *arena, size_t size);

/* count * size bytes, zeroed; NULL on overflow, too. */
void *mo_arena_array(mo_arena *arena, size_t count, size_t size);

/* A copy of the length bytes at text, with a 0 behind them. */
char *mo_arena_text(mo_arena *arena, const char *text, size_t length);

/* How many bytes the arena holds from the system. */
size_t mo_arena_bytes(const mo_arena *arena);

#endif
