/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/graphml/schema.h"

#include <stddef.h>
#include <string.h>

#define OP(field)   offsetof(mo_graphml_node, op.field)
#define EDGE(field) offsetof(mo_graphml_edge, field)

static const mo_graphml_attribute node_attributes[] = {
    { { "op", "op_type", "type", "operator" }, MO_GRAPHML_TEXT, OP(type) },
    [MO_GRAPHML_LABEL] = { { "name", "label" }, MO_GRAPHML_TEXT, OP(label) },
    { { "shape" }, MO_GRAPHML_SHAPE, OP(shape) },
    { { "dtype" }, MO_GRAPHML_DTYPE, OP(dtype) },
    { { "attrs" }, MO_GRAPHML_JSON, OP(attrs) },
    { { "weights" }, MO_GRAPHML_TEXT, OP(weights) },
    { { "pin" }, MO_GRAPHML_TEXT, OP(pin) },
    { { "colocate" }, MO_GRAPHML_TEXT, OP(colocate) },
    { { "state" }, MO_GRAPHML_TEXT, OP(state) },
    { { "members" }, MO_GRAPHML_NAMES, OP(members) },
    { { "flops" }, MO_GRAPHML_AMOUNT, OP(flops) },
    { { "bytes" }, MO_GRAPHML_AMOUNT, OP(bytes) },
    [MO_GRAPHML_MEMORY] = { { "memory", "mem", "memory_bytes" },
                            MO_GRAPHML_SIZE,
                            OP(memory_bytes) },
    { { "weight_bytes" }, MO_GRAPHML_SIZE, OP(weight_bytes) },
    { { "workspace_bytes" }, MO_GRAPHML_SIZE, OP(workspace_bytes) },
    { { "output_bytes" }, MO_GRAPHML_SIZE, OP(output_bytes) },
    [MO_GRAPHML_CONSTANT] = { { "constant" },
                              MO_GRAPHML_FLAG,
                              offsetof(mo_graphml_node, constant) },
    [MO_GRAPHML_OUTPUT] = { { "output" }, MO_GRAPHML_FLAG, OP(is_output) },
    { { "time_us." }, MO_GRAPHML_MEASURE, 0 },
};

static const mo_graphml_attribute edge_attributes[] = {
    [MO_GRAPHML_BYTES] = { { "bytes", "tensor_bytes" },
                           MO_GRAPHML_SIZE,
                           EDGE(bytes) },
    { { "src_port", "sourceport" }, MO_GRAPHML_PORT, EDGE(src_port) },
    { { "dst_port", "targetport" }, MO_GRAPHML_PORT, EDGE(dst_port) },
    { { "tensor" }, MO_GRAPHML_TEXT, EDGE(tensor) },
    { { "comm_us." }, MO_GRAPHML_MEASURE, 0 },
};

#define COUNT(table) (int) (sizeof(table) / sizeof *(table))

_Static_assert(COUNT(node_attributes) <= MO_GRAPHML_MAX_ATTRIBUTES,
               "readers and writers have this much room");

const mo_graphml_attributes mo_graphml_attributes_of[MO_GRAPHML_ROLES] = {
    [MO_GRAPHML_NODE] = { node_attributes, COUNT(node_attributes) },
    [MO_GRAPHML_EDGE] = { edge_attributes, COUNT(edge_attributes) },
};

static bool is_column(const char *name, const char *prefix)
{
    size_t length = strlen(prefix);

    return strncmp(name, prefix, length) == 0 && name[length] != '\0';
}

static int rank_of(const mo_graphml_attribute *attribute, const char *name)
{
    int n_names = COUNT(attribute->names);

    if (attribute->kind == MO_GRAPHML_MEASURE)
        return is_column(name, attribute->names[0]) ? 0 : -1;
    for (int i = 0; i < n_names && attribute->names[i]; i++)
        if (strcmp(name, attribute->names[i]) == 0)
            return i;
    return -1;
}

int mo_graphml_find(mo_graphml_role role, const char *name, int *rank)
{
    const mo_graphml_attributes *all = &mo_graphml_attributes_of[role];

    for (int i = 0; i < all->count; i++) {
        *rank = rank_of(&all->items[i], name);
        if (*rank >= 0)
            return i;
    }
    return -1;
}
