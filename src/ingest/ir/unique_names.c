/* SPDX-License-Identifier: Apache-2.0 */
/* Unique names of the layers of an OpenVINO model. */
#include "ingest/ir/ir.h"

#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/number.h"

/* The names in the file, and the number of layers of each. */
typedef struct census {
    mo_intern *names;
    int *bearers;
} census;

static mo_status count_names(const mo_ir *ir, census *c, mo_error *err)
{
    int number;

    c->names = mo_intern_new(ir->arena);
    c->bearers = calloc((size_t) ir->n_layers + 1, sizeof *c->bearers);
    if (!c->names || !c->bearers)
        return mo_fail_memory(err);
    for (int i = 0; i < ir->n_layers; i++) {
        const char *name = ir->layers[i].name;
        mo_status status =
            mo_intern_put(c->names, name, strlen(name), &number, err);

        if (status != MO_OK)
            return status;
        c->bearers[number]++;
    }
    return MO_OK;
}

static bool is_unique(const census *c, const char *name)
{
    int number = mo_intern_find(c->names, name, strlen(name));

    return name[0] != '\0' && c->bearers[number] == 1;
}

/* Two names made here cannot be equal, since they end in different ids; one of
 * the file may be, and then the id is appended once more. */
static mo_status rename_layer(const mo_ir *ir, const census *c,
                              mo_ir_layer *layer, mo_error *err)
{
    char id[MO_NUMBER_SIZE + 1] = "#";
    size_t id_length = 1 + mo_number_write_int(id + 1, layer->id);
    size_t length = strlen(layer->name);

    do {
        char *name = mo_arena_alloc(ir->arena, length + id_length + 1);

        if (!name)
            return mo_fail_memory(err);
        memcpy(name, layer->name, length);
        memcpy(name + length, id, id_length);
        layer->name = name;
        length += id_length;
    } while (mo_intern_find(c->names, layer->name, length) >= 0);
    return MO_OK;
}

mo_status mo_ir_make_names_unique(mo_ir *ir, mo_error *err)
{
    census c = { NULL, NULL };
    mo_status status = count_names(ir, &c, err);

    for (int i = 0; i < ir->n_layers && status == MO_OK; i++)
        if (!is_unique(&c, ir->layers[i].name))
            status = rename_layer(ir, &c, &ir->layers[i], err);
    mo_intern_free(c.names);
    free(c.bearers);
    return status;
}
