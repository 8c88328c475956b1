/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intern.h - each distinct text once, with a number.
 *
 * Numbers count from 0 in the order of first sight.  Two equal texts get the
 * same number and the same pointer, so that comparing is comparing pointers.
 */
#ifndef MO_BASE_INTERN_H
#define MO_BASE_INTERN_H

#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"

typedef struct mo_intern mo_intern;

/* The texts are kept in arena, which must outlive the table; the table itself
 * may be freed earlier, the texts stay.  NULL when there is no memory. */
mo_intern *mo_intern_new(mo_arena *arena);
void mo_intern_free(mo_intern *table);

/* The number of text, which is added when it is new. */
mo_status mo_intern_put(mo_intern *table, const char *text, size_t length,
                        int *number, mo_error *err);

/* The next number for a text that is no other's, for whoever knows that by
 * itself and never looks for it: it is not found, put neither. */
mo_status mo_intern_append(mo_intern *table, const char *text, size_t length,
                           int *number, mo_error *err);

/* The number of text, or -1 when it was never put. */
int mo_intern_find(const mo_intern *table, const char *text, size_t length);

const char *mo_intern_text(const mo_intern *table, int number);
int mo_intern_count(const mo_intern *table);

#endif
