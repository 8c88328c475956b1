/* SPDX-License-Identifier: Apache-2.0 */
#include "models/identity.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

/* The longest option words fit with room to spare. */
static void add_name(mo_identity *identity, const char *format, ...)
    MO_PRINTF(2, 3);

static void add_name(mo_identity *identity, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(identity->name[identity->n++], MO_VARIABLE_NAME, format, args);
    va_end(args);
}

static void add_digest(mo_identity *identity, char letter, uint64_t digest)
{
    add_name(identity, "moirai_%c_%016" PRIx64, letter, digest);
}

static void add_options(mo_identity *identity,
                        const mo_identity_options *options)
{
    const mo_regime *regime = &options->regime;
    char *name = identity->name[identity->n];

    add_name(identity, "moirai_o_%s.%s.%s.%s.%s", options->formulation,
             mo_congestion_names[regime->congestion],
             mo_tensors_names[regime->tensors], mo_memory_names[regime->memory],
             options->fusion);
    /* "per-edge" cannot be part of a name in every reader: '-' is minus. */
    for (; *name; name++)
        if (*name == '-')
            *name = '_';
}

void mo_identity_make(const mo_instance *x, const mo_identity_options *options,
                      mo_identity *identity)
{
    *identity = (mo_identity){ 0 };
    add_digest(identity, 'g', options->graph_digest);
    add_digest(identity, 'c', x->cluster_digest);
    if (x->profile_digest)
        add_digest(identity, 'p', x->profile_digest);
    if (options->has_rules)
        add_digest(identity, 'f', options->rules_digest);
    add_options(identity, options);
    if (options->unit_ns)
        add_name(identity, "moirai_u_%" PRId64, options->unit_ns);
    add_digest(identity, 'i', x->digest);
}
