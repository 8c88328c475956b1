/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_key.h - the members of an op by the keys that moirai.h gives them, for
 * reading and for setting.
 */
#ifndef MO_LIB_OP_KEY_H
#define MO_LIB_OP_KEY_H

#include <stdbool.h>
#include <stddef.h>

typedef struct mo_lib_op_key {
    const char *name;
    enum { MO_LIB_OP_TEXT, MO_LIB_OP_INT64, MO_LIB_OP_DOUBLE } type;
    size_t offset; /* in mo_op */
    bool can_set;
} mo_lib_op_key;

/* Returns the key of that name; NULL: unknown. */
const mo_lib_op_key *mo_lib_op_key_find(const char *name);

#endif
