/*
 * alike.h - which of many things are the same: a kind is a number for all that
 * have the same content.
 *
 * Stacked layers are the same piece of a network again and again.  What is
 * found out about one of them holds for all.
 */
#ifndef MO_SOLVERS_SEARCH_DECOMP_EQUIV_CLASS_H
#define MO_SOLVERS_SEARCH_DECOMP_EQUIV_CLASS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef struct mo_numbers {
    int64_t *items;
    size_t n, room;
} mo_numbers;

mo_status mo_numbers_put(mo_numbers *numbers, int64_t number, mo_error *err);

/* Appends all that makes the thing what it is. */
typedef mo_status mo_alike_write(void *context, int thing, mo_numbers *numbers,
                                 mo_error *err);

typedef struct mo_alike mo_alike;

mo_status mo_alike_new(mo_alike_write *write, void *context, mo_alike **alike,
                       mo_error *err);
void mo_alike_free(mo_alike *alike);

/* The thing's kind: that of a thing asked for before whose content is the same,
 * number for number, or the next new one.  Of each kind only the first thing's
 * name is kept, and its content written again to be compared. */
mo_status mo_alike_kind(mo_alike *alike, int thing, int *kind, mo_error *err);

int mo_alike_n(const mo_alike *alike);               /* kinds so far */
int mo_alike_first(const mo_alike *alike, int kind); /* a thing of it */

#endif
