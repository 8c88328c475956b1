/* SPDX-License-Identifier: Apache-2.0 */
/*
 * alike.h - which of many things are the same: a class is a number for all that
 * have the same content.
 *
 * Stacked layers are the same segment of a network again and again.  What is
 * found out about one of them holds for all.
 */
#ifndef MO_SOLVERS_SEARCH_DECOMP_EQUIV_CLASS_H
#define MO_SOLVERS_SEARCH_DECOMP_EQUIV_CLASS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef struct mo_decomp_key {
    int64_t *items;
    size_t n, room;
} mo_decomp_key;

mo_status mo_decomp_key_append(mo_decomp_key *numbers, int64_t number,
                               mo_error *err);

/* Appends all that makes the thing what it is. */
typedef mo_status mo_decomp_equiv_encode(void *context, int thing,
                                         mo_decomp_key *numbers, mo_error *err);

typedef struct mo_decomp_equiv mo_decomp_equiv;

mo_status mo_decomp_equiv_new(mo_decomp_equiv_encode *write, void *context,
                              mo_decomp_equiv **alike, mo_error *err);
void mo_decomp_equiv_free(mo_decomp_equiv *alike);

/* The thing's class: that of a thing asked for before whose content is the
 * same, number for number, or the next new one.  Of each class only the first
 * thing's name is kept, and its content written again to be compared. */
mo_status mo_decomp_equiv_class_of(mo_decomp_equiv *alike, int thing, int *cls,
                                   mo_error *err);

int mo_decomp_equiv_n_classes(
    const mo_decomp_equiv *alike); /* classes so far */
int mo_decomp_equiv_representative(const mo_decomp_equiv *alike,
                                   int cls); /* a thing of it */

#endif
