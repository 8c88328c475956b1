/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/operator.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "ingest/operator_id.h"

/* Longer than any known name; longer names are unknown. */
enum { NAME_SIZE = 64 };

/* Prefixes of frameworks and modules, removed as often as one of them
 * matches. */
static const char *const prefixes[] = {
    "torch.",
    "nn.",
    "functional.",
    "modules.activation.",
    "modules.batchnorm.",
    "modules.conv.",
    "modules.dropout.",
    "modules.linear.",
    "modules.normalization.",
    "modules.pooling.",
    "modules.sparse.",
    "ops.",
    "onnx::",
    "prim::",
    "prims.",
    "operator.",
    "_operator.",
    "ai.onnx.",
    "opset.",
};

static int compare_operator(const void *key, const void *item)
{
    return strcasecmp(key, ((const mo_operator *) item)->name);
}

static int compare_alias(const void *key, const void *item)
{
    return strcmp(key, ((const mo_operator_alias *) item)->alias);
}

static const mo_operator *find_canonical(const char *name)
{
    return bsearch(name, mo_operators, mo_n_operators, sizeof *mo_operators,
                   compare_operator);
}

mo_operator_id mo_operator_id_of(const char *name)
{
    const mo_operator *found = name ? find_canonical(name) : NULL;

    return found && strcmp(found->name, name) == 0
               ? (mo_operator_id) (found - mo_operators)
               : MO_OPERATOR_NO;
}

static const mo_operator *find_alias(const char *name)
{
    const mo_operator_alias *found =
        bsearch(name, mo_operator_aliases, mo_n_operator_aliases,
                sizeof *mo_operator_aliases, compare_alias);

    return found ? &mo_operators[found->index] : NULL;
}

/* Returns where name goes on behind prefix, NULL when it does not start with
 * it. */
static char *skip_prefix(char *name, const char *prefix)
{
    size_t length = strlen(prefix);

    return strncmp(name, prefix, length) == 0 ? name + length : NULL;
}

static char *strip_prefixes(char *name)
{
    size_t i = 0;

    while (i < sizeof prefixes / sizeof *prefixes) {
        char *rest = skip_prefix(name, prefixes[i]);

        i = rest ? 0 : i + 1;
        name = rest ? rest : name;
    }
    return name;
}

static const mo_operator *find_plain(const char *name)
{
    const mo_operator *found = find_canonical(name);

    return found ? found : find_alias(name);
}

/* ATen's own meaning of a name stands as "aten.select" among the aliases. */
static const mo_operator *find_aten(const char *name)
{
    char own[NAME_SIZE + sizeof "aten."] = "aten.";
    const mo_operator *found = find_alias(strcat(own, name));

    return found ? found : find_plain(name);
}

const mo_operator *mo_operator_find(const char *name)
{
    char lower[NAME_SIZE], *base, *aten;
    const mo_operator *(*find)(const char *) = find_plain;
    const mo_operator *found;
    size_t length = name ? strlen(name) : 0;

    if (length == 0 || length >= sizeof lower)
        return NULL;
    for (size_t i = 0; i <= length; i++)
        lower[i] = (char) tolower((unsigned char) name[i]);

    base = strip_prefixes(lower);
    if ((aten = skip_prefix(base, "aten.")) ||
        (aten = skip_prefix(base, "aten::"))) {
        base = aten;
        find = find_aten;
    }
    length = strcspn(base, ".");
    base[length] = '\0';

    found = find(base);
    if (!found && length > 1 && base[length - 1] == '_') {
        base[length - 1] = '\0';
        found = find(base);
    }
    return found;
}

/* Types repeat, and equal texts of a graph are the same pointer: a
 * direct-mapped cache by address saves most lookups. */
void mo_operator_resolve(mo_graph *g)
{
    enum { CACHE_SIZE = 256 };
    const char *types[CACHE_SIZE] = { NULL };
    const mo_operator *kinds[CACHE_SIZE] = { NULL };

    for (int i = 0; i < g->n_ops + g->n_constants; i++) {
        const char *type = g->ops[i].type;
        size_t slot = ((uintptr_t) type >> 3) % CACHE_SIZE;

        if (types[slot] != type) {
            types[slot] = type;
            kinds[slot] = mo_operator_find(type);
        }
        g->ops[i].kind = type ? kinds[slot] : NULL;
    }
}

static const char *const class_names[] = {
    [MO_CLASS_NONE] = "none",
    [MO_CLASS_FREE] = "free",
    [MO_CLASS_MATMUL] = "matmul",
    [MO_CLASS_CONVOLUTION] = "convolution",
    [MO_CLASS_POOL] = "pool",
    [MO_CLASS_ELEMENTWISE] = "elementwise",
    [MO_CLASS_ACTIVATION] = "activation",
    [MO_CLASS_NORMALIZATION] = "normalization",
    [MO_CLASS_SOFTMAX] = "softmax",
    [MO_CLASS_REDUCTION] = "reduction",
    [MO_CLASS_ATTENTION] = "attention",
    [MO_CLASS_GATHER] = "gather",
    [MO_CLASS_MOVE] = "move",
    [MO_CLASS_SHAPE] = "shape",
};

const char *mo_class_name(mo_class class)
{
    return class_names[class];
}

bool mo_class_find(const char *name, mo_class *class)
{
    for (size_t i = 0; i < sizeof class_names / sizeof *class_names; i++) {
        if (strcmp(class_names[i], name) == 0) {
            *class = (mo_class) i;
            return true;
        }
    }
    return false;
}
