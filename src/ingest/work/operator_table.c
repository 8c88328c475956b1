/* SPDX-License-Identifier: Apache-2.0 */
/* The operators with their class and flops formula, from operators.def. */
#include "ingest/operator.h"
#include "ingest/work/flops.h"

#define FLOPS_NONE                        NULL, 0, false
#define FLOPS_PICKS                       NULL, 0, true
#define FLOPS_FLOPS(formula, per_element) mo_flops_##formula, per_element, false
#define OPERATOR(name, class, flops, shape, value, lowering)                   \
    { #name, MO_CLASS_##class, FLOPS_##flops },

const mo_operator mo_operators[] = {
#include "ingest/operators.def"
};

const size_t mo_n_operators = sizeof mo_operators / sizeof *mo_operators;
