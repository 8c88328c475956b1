/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/graphml/key.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static const char *const role_names[] = {
    [MO_GRAPHML_NODE] = "node",
    [MO_GRAPHML_EDGE] = "edge",
};

mo_status mo_graphml_keys_init(mo_graphml_keys *keys, mo_error *err)
{
    memset(keys, 0, sizeof *keys);
    keys->arena = mo_arena_new();
    if (keys->arena)
        keys->ids = mo_intern_new(keys->arena);
    return keys->ids ? MO_OK : mo_fail_memory(err);
}

void mo_graphml_keys_clear(mo_graphml_keys *keys)
{
    free(keys->items);
    mo_intern_free(keys->ids);
    mo_arena_free(keys->arena);
    memset(keys, 0, sizeof *keys);
}

const mo_graphml_key *mo_graphml_key_find(const mo_graphml_keys *keys,
                                          const char *id, size_t length)
{
    int number = mo_intern_find(keys->ids, id, length);

    return number < 0 ? NULL : &keys->items[number];
}

static mo_status add_key(mo_graphml_keys *keys, const mo_xml_attribute *id,
                         mo_graphml_key **key, mo_error *err)
{
    mo_status status;
    int number;

    status = mo_intern_put(keys->ids, id->value, id->length, &number, err);
    if (status != MO_OK)
        return status;
    if ((size_t) number == keys->count) {
        status = MO_ARRAY_GROW(keys->items, keys->count, keys->room, err);
        if (status != MO_OK)
            return status;
        keys->items[keys->count++] =
            (mo_graphml_key){ .id = mo_intern_text(keys->ids, number) };
    }
    *key = &keys->items[number];
    return MO_OK;
}

/* The specification's default is all; keys for ports, graphs and the like are
 * ignored. */
static bool is_for_role(const mo_xml_attribute *domain, const char *role)
{
    size_t length = strlen(role);

    if (!domain || (domain->length == 3 && !memcmp(domain->value, "all", 3)))
        return true;
    return domain->length == length && memcmp(domain->value, role, length) == 0;
}

static mo_status add_meaning(mo_graphml_key *key, mo_graphml_role role,
                             const char *name, int line, mo_builder *builder,
                             mo_error *err)
{
    const mo_graphml_attributes *all = &mo_graphml_attributes_of[role];
    mo_graphml_meaning *meaning = &key->meanings[role];

    if (meaning->line > 0 && strcmp(meaning->name, name) == 0)
        return MO_OK;
    if (meaning->line > 0)
        return mo_fail_at(err, MO_E_INPUT, NULL, line,
                          "key '%.60s' is declared twice for %ss, first on "
                          "line %d; give one of them another id",
                          key->id, role_names[role], meaning->line);
    meaning->name = name;
    meaning->line = line;
    /* igraph names its keys v_op, e_bytes and so on. */
    meaning->none_is_absent =
        strncmp(key->id, "v_", 2) == 0 || strncmp(key->id, "e_", 2) == 0;
    meaning->attribute = mo_graphml_find(role, name, &meaning->rank);
    if (meaning->attribute + 1 < all->count)
        return MO_OK;
    /* The key of a column follows its prefix. */
    name += strlen(all->items[all->count - 1].names[0]);
    return role == MO_GRAPHML_NODE
               ? mo_builder_time_column(builder, name, strlen(name),
                                        &meaning->column, err)
               : mo_builder_comm_column(builder, name, strlen(name),
                                        &meaning->column, err);
}

mo_status mo_graphml_key_declare(mo_graphml_keys *keys,
                                 const mo_xml_element *element,
                                 mo_builder *builder, mo_graphml_key **key,
                                 bool roles[MO_GRAPHML_ROLES], mo_error *err)
{
    const mo_xml_attribute *id = mo_xml_find(element, "id");
    const mo_xml_attribute *domain = mo_xml_find(element, "for");
    const mo_xml_attribute *given = mo_xml_find(element, "attr.name");
    const char *name =
        given ? mo_arena_text(keys->arena, given->value, given->length) : "";
    mo_status status;

    if (!name)
        return mo_fail_memory(err);
    if (!id || id->length == 0)
        return mo_fail_at(err, MO_E_INPUT, NULL, element->line,
                          "a <key> has no id; give it one that the <data> "
                          "elements can name");
    status = add_key(keys, id, key, err);
    for (int r = 0; r < MO_GRAPHML_ROLES && status == MO_OK; r++) {
        roles[r] = is_for_role(domain, role_names[r]);
        if (roles[r])
            status = add_meaning(*key, r, name, element->line, builder, err);
    }
    return status;
}
