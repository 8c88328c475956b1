/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answer_name.h - a column's name taken apart again; models/sink/variable.h
 * puts it together.
 */
#ifndef MO_SOLVERS_ANSWER_COLUMN_NAME_H
#define MO_SOLVERS_ANSWER_COLUMN_NAME_H

#include <stdbool.h>

#include "models/sink/variable.h"

typedef struct mo_column_name {
    char role; /* a mo_variable_role */
    int n;     /* numbers */
    int number[MO_VARIABLE_NUMBERS];
} mo_column_name;

/* False where it is no letter with numbers behind it: a column of somebody
 * else's. */
bool mo_column_name_parse(const char *text, mo_column_name *name);

#endif
