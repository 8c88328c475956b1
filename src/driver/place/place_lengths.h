/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place_lengths.h - lengths of a request to a language model that is placed for
 * a runtime.
 */
#ifndef MO_DRIVER_PLACE_PLACE_LENGTHS_H
#define MO_DRIVER_PLACE_PLACE_LENGTHS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/option.h"

typedef struct mo_place_lengths {
    int64_t prompt, generate, context;
    bool has_context; /* it is given */
    char cache[64];   /* type of its elements */
} mo_place_lengths;

/* Reads the items of --value, or sets the defaults. */
mo_status mo_place_lengths_read(const mo_option_list *values,
                                mo_place_lengths *lengths, mo_error *err);

#endif
