/* SPDX-License-Identifier: Apache-2.0 */
/*
 * identity.h - provenance of a model, encoded in the names of columns.
 *
 * A solution file is all that returns from the solver's host.  Columns fixed
 * to 1 carry the digests of graph, cluster, profile, rules and instance, the
 * options and the time unit in their names, and a digest of all these names;
 * every solver copies them.  Behind the digest of a file its name is kept,
 * without its folder: a hint for messages and searches, which no comparison
 * uses.  See moirai-model(5).
 */
#ifndef MO_MODELS_IDENTITY_H
#define MO_MODELS_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "cost/instance.h"
#include "ingest/read.h"
#include "models/sink/variable.h"
#include "schedule/regime.h"

/* What the names of identity columns, and of no other, begin with; a letter and
 * '_' follow. */
#define MO_IDENTITY_PREFIX "moirai_"

/* Shapes of inputs that are kept, and values, one a column; a list of shapes
 * may take several. */
enum { MO_IDENTITY_SHAPES = 8 };

enum { MO_IDENTITY_NAMES = 11 + 2 * MO_IDENTITY_SHAPES };

typedef struct mo_identity {
    int n;
    char name[MO_IDENTITY_NAMES][MO_VARIABLE_NAME];
} mo_identity;

/* Inputs that shaped the model beside the instance. */
typedef struct mo_identity_options {
    const char *formulation;
    mo_regime regime;
    const char *fusion;    /* name of a built-in rule set, "none", or "file" */
    uint64_t graph_digest; /* of the graph as read, before coarsening */
    bool has_rules;        /* a rule file was used; rules_digest is its */
    uint64_t rules_digest;
    int64_t unit_ns;   /* time unit of the model; 0: not recorded */
    int64_t in_flight; /* of a period: most requests in flight; 0: no limit */

    /* All borrowed.  Paths or names of built-in inputs, as given; NULL or "-":
     * none. */
    const char *graph_file, *cluster_file, *profile_file, *rules_file;
    const char *cost; /* of --cost; NULL: the built-in one */
    mo_read_options read;
} mo_identity_options;

/* Returns whether a column of that name is an identity column. */
bool mo_identity_is_column(const char *name);

/* Returns whether the columns hold all of these lists of shapes. */
bool mo_identity_holds_shapes(const mo_option_list *shapes);

/* Fills *identity, a plain value that owns nothing. */
void mo_identity_make(const mo_instance *x, const mo_identity_options *options,
                      mo_identity *identity);

/*
 * Returns the digest of all identity columns, by their names in any order and
 * without those of files. It ends the name of the options column: an edit of
 * any of them is noticed, unless the digest is computed anew. n is
 * MO_IDENTITY_NAMES at most.
 */
uint64_t mo_identity_digest(const char *const *names, int n);

/*
 * Appends text to the name of a column, of at most size bytes with the 0:
 * letters, digits and dots as they are, '_' doubled, any other byte as '_' and
 * two hexadecimal digits.  Text that does not fit is cut, and a single '_'
 * follows; then returns false.
 */
bool mo_identity_encode(const char *text, char *name, size_t size);

/* The reverse for the text at code: into text, of at least strlen(code) + 1
 * bytes.  *cut is set if it was cut.  Returns false if no text is encoded
 * so. */
bool mo_identity_decode(const char *code, char *text, bool *cut);

#endif
