/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/op_key.h"

#include <string.h>

#include "graph/graph.h"

const mo_lib_op_key *mo_lib_op_key_find(const char *name)
{
    static const mo_lib_op_key keys[] = {
        { "name", MO_LIB_OP_TEXT, offsetof(mo_op, name), false },
        { "label", MO_LIB_OP_TEXT, offsetof(mo_op, label), true },
        { "type", MO_LIB_OP_TEXT, offsetof(mo_op, type), true },
        { "shape", MO_LIB_OP_TEXT, offsetof(mo_op, shape), true },
        { "dtype", MO_LIB_OP_TEXT, offsetof(mo_op, dtype), true },
        { "attrs", MO_LIB_OP_TEXT, offsetof(mo_op, attrs), true },
        { "pin", MO_LIB_OP_TEXT, offsetof(mo_op, pin), true },
        { "colocate", MO_LIB_OP_TEXT, offsetof(mo_op, colocate), true },
        { "members", MO_LIB_OP_TEXT, offsetof(mo_op, members), false },
        { "flops", MO_LIB_OP_DOUBLE, offsetof(mo_op, flops), true },
        { "bytes", MO_LIB_OP_DOUBLE, offsetof(mo_op, bytes), true },
        { "memory_bytes", MO_LIB_OP_INT64, offsetof(mo_op, memory_bytes),
          true },
        { "weight_bytes", MO_LIB_OP_INT64, offsetof(mo_op, weight_bytes),
          true },
        { "workspace_bytes", MO_LIB_OP_INT64, offsetof(mo_op, workspace_bytes),
          true },
        { "output_bytes", MO_LIB_OP_INT64, offsetof(mo_op, output_bytes),
          true },
    };

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(keys[i].name, name) == 0)
            return &keys[i];
    return NULL;
}
