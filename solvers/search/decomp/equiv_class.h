/* SPDX-License-Identifier: Apache-2.0 */
/*
 * equiv_class.h - equivalence classes by content (hash-consing): items with
 * equal keys, number for number, get the same class.
 *
 * Stacked layers are the same segment again and again: a schedule or a bound
 * of one is valid for all.
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

/* Appends a number; the caller frees key->items. */
mo_status mo_decomp_key_append(mo_decomp_key *key, int64_t number,
                               mo_error *err);

/* Appends to the key all that distinguishes the item. */
typedef mo_status mo_decomp_equiv_encode(void *context, int item,
                                         mo_decomp_key *key, mo_error *err);

typedef struct mo_decomp_equiv mo_decomp_equiv;

/* Allocates *equiv; the caller frees it with mo_decomp_equiv_free(), which
 * accepts NULL. context is passed to encode. */
mo_status mo_decomp_equiv_new(mo_decomp_equiv_encode *encode, void *context,
                              mo_decomp_equiv **equiv, mo_error *err);
void mo_decomp_equiv_free(mo_decomp_equiv *equiv);

/* Sets *cls to the class of an item: that of an earlier item with the same
 * key, or the next new one. Of each class only the first item is stored; its
 * key is encoded again for every comparison. */
mo_status mo_decomp_equiv_class_of(mo_decomp_equiv *equiv, int item, int *cls,
                                   mo_error *err);

int mo_decomp_equiv_n_classes(const mo_decomp_equiv *equiv); /* so far */
int mo_decomp_equiv_representative(const mo_decomp_equiv *equiv,
                                   int cls); /* its first item */

#endif
