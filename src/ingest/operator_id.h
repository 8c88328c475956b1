/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operator_id.h - operators by number: the index of a row of operators.def, and
 * of every table that is made from it (mo_operators, shape rules, lowerings).
 */
#ifndef MO_INGEST_OPERATOR_ID_H
#define MO_INGEST_OPERATOR_ID_H

typedef enum mo_operator_id {
#define OPERATOR(name, class, flops, shape, value, lowering) MO_OPERATOR_##name,
#include "ingest/operators.def"
    MO_OPERATORS,       /* how many there are */
    MO_OPERATOR_NO = -1 /* none of them */
} mo_operator_id;

/* Returns the operator of exactly that canonical name, in that case; no aliases
 * (mo_operator_find() knows them).  MO_OPERATOR_NO when there is none. */
mo_operator_id mo_operator_id_of(const char *name);

#endif
