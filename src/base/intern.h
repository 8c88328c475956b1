/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intern.h - string interning: each distinct text is stored once and has a
 * number.
 *
 * Numbers count from 0 in the order of insertion. Two equal texts get the same
 * number and the same pointer, so that texts are compared by pointer.
 */
#ifndef MO_BASE_INTERN_H
#define MO_BASE_INTERN_H

#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"

typedef struct mo_intern mo_intern;

/* Returns an empty table, or NULL when memory is exhausted. Texts are
 * allocated in arena, which must outlive the table; mo_intern_free() frees the
 * table alone, the texts stay. */
mo_intern *mo_intern_new(mo_arena *arena);
void mo_intern_free(mo_intern *table);

/* Sets *number to the number of text, which is inserted when it is new. */
mo_status mo_intern_put(mo_intern *table, const char *text, size_t length,
                        int *number, mo_error *err);

/* Appends a text that the caller knows to be unique and never looks up: it is
 * not entered into the hash table, so that neither find nor put returns it. */
mo_status mo_intern_append(mo_intern *table, const char *text, size_t length,
                           int *number, mo_error *err);

/* Returns the number of text, or -1 when it was never inserted. */
int mo_intern_find(const mo_intern *table, const char *text, size_t length);

const char *mo_intern_text(const mo_intern *table, int number);
int mo_intern_count(const mo_intern *table);

#endif
