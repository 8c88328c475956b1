/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/answer/column_name.h"

#include <limits.h>

/* Digits without leading zeros, so that names are unique. */
static const char *parse_number(const char *at, int *number)
{
    const char *begin = at;
    int value = 0;

    for (; *at >= '0' && *at <= '9'; at++) {
        int digit = *at - '0';

        if (value > (INT_MAX - digit) / 10 || (at > begin && *begin == '0'))
            return NULL;
        value = value * 10 + digit;
    }
    *number = value;
    return at > begin ? at : NULL;
}

bool mo_column_name_parse(const char *text, mo_column_name *name)
{
    const char *at = text + 1;

    if (text[0] < 'a' || text[0] > 'z')
        return false;
    name->role = text[0];
    for (name->n = 0; *at == '_'; name->n++) {
        if (name->n == MO_VARIABLE_NUMBERS)
            return false;
        at = parse_number(at + 1, &name->number[name->n]);
        if (!at)
            return false;
    }
    return *at == '\0';
}
