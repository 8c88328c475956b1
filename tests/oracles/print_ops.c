/* SPDX-License-Identifier: Apache-2.0 */
/* tests/oracles/print_ops - prints the types of all operators that can be run,
 * one a line. */
#include <stdio.h>

#include "exec/op/lower.h"

int main(void)
{
    for (int i = 0; mo_lower_entry_at(i); i++)
        puts(mo_lower_entry_at(i)->type);
    return 0;
}
