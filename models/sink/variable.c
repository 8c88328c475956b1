/* SPDX-License-Identifier: Apache-2.0 */
#include "models/sink/variable.h"

#include <assert.h>
#include <string.h>

#include "base/number.h"

int mo_variable_role_arity(mo_variable_role role)
{
    switch (role) {
    case MO_VARIABLE_ROLE_START:
    case MO_VARIABLE_ROLE_COMPLETE:
    case MO_VARIABLE_ROLE_SEND:
    case MO_VARIABLE_ROLE_ARRIVE:
    case MO_VARIABLE_ROLE_CROSS:
    case MO_VARIABLE_ROLE_FAVORITE:
    case MO_VARIABLE_ROLE_SPACE:
    case MO_VARIABLE_ROLE_INCUMBENT_START:
    case MO_VARIABLE_ROLE_INCUMBENT_SEND:
        return 1;
    case MO_VARIABLE_ROLE_PLACE:
    case MO_VARIABLE_ROLE_FREE_PLACE:
    case MO_VARIABLE_ROLE_ORDER:
    case MO_VARIABLE_ROLE_SEND_ORDER:
    case MO_VARIABLE_ROLE_SAME_DEVICE:
        return 2;
    case MO_VARIABLE_ROLE_CHANNEL:
    case MO_VARIABLE_ROLE_REPLICA:
    case MO_VARIABLE_ROLE_SEGMENT:
        return 3;
    case MO_VARIABLE_ROLE_PATTERN:
        return 4;
    case MO_VARIABLE_ROLE_MAKESPAN:
    case MO_VARIABLE_ROLE_INCUMBENT:
    case MO_VARIABLE_ROLE_IDENTITY:
        break;
    }
    return 0;
}

size_t mo_variable_name(const mo_variable *column, char name[MO_VARIABLE_NAME])
{
    int n = mo_variable_role_arity(column->role);
    char *at = name;

    if (column->role == MO_VARIABLE_ROLE_IDENTITY) {
        size_t length = strlen(column->text);

        assert(length < MO_VARIABLE_NAME);
        memcpy(name, column->text, length + 1);
        return length;
    }
    *at++ = (char) column->role;
    for (int i = 0; i < n; i++) {
        assert(column->number[i] >= 0);
        *at++ = '_';
        at += mo_number_write_int(at, column->number[i]);
    }
    *at = '\0';
    return (size_t) (at - name);
}
