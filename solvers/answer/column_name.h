/* SPDX-License-Identifier: Apache-2.0 */
/*
 * column_name.h - parses a column's name; models/sink/variable.h writes it.
 */
#ifndef MO_SOLVERS_ANSWER_COLUMN_NAME_H
#define MO_SOLVERS_ANSWER_COLUMN_NAME_H

#include <stdbool.h>

#include "models/sink/variable.h"

typedef struct mo_column_name {
    char role; /* a mo_variable_role */
    int n;     /* number of indices */
    int number[MO_VARIABLE_NUMBERS];
} mo_column_name;

/* Returns false for anything but a letter with indices: a foreign column. */
bool mo_column_name_parse(const char *text, mo_column_name *name);

#endif
