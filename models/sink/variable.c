#include "models/sink/variable.h"

#include <assert.h>
#include <string.h>

#include "base/number.h"

int mo_role_numbers(mo_role role)
{
    switch (role) {
    case MO_ROLE_START:
    case MO_ROLE_COMPLETE:
    case MO_ROLE_SEND:
    case MO_ROLE_ARRIVE:
    case MO_ROLE_CROSS:
    case MO_ROLE_FAVOUR:
    case MO_ROLE_SPACE:
        return 1;
    case MO_ROLE_PLACE:
    case MO_ROLE_ORDER:
    case MO_ROLE_SEND_ORDER:
    case MO_ROLE_MEET:
        return 2;
    case MO_ROLE_CHANNEL:
    case MO_ROLE_SEGMENT:
        return 3;
    case MO_ROLE_MAKESPAN:
    case MO_ROLE_IDENTITY:
        break;
    }
    return 0;
}

size_t mo_variable_name(const mo_variable *column, char name[MO_VARIABLE_NAME])
{
    int n = mo_role_numbers(column->role);
    char *at = name;

    if (column->role == MO_ROLE_IDENTITY) {
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
