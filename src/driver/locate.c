/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/locate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/file_search.h"
#include "coarsen/fusion_rules.h"
#include "cost/cluster.h"
#include "cost/profile.h"

/* Larger files are not opened while searching. */
#define MOST_BYTES INT64_C(1073741824)

/* One kind of input to search for. */
typedef struct kind {
    const char *what, *option;
    mo_file_search_spec files;
    mo_status (*digest)(const mo_locate_query *from, const char *path,
                        uint64_t *digest, mo_error *err);
} kind;

static mo_status digest_graph(const mo_locate_query *from, const char *path,
                              uint64_t *digest, mo_error *err)
{
    mo_graph *g = NULL;
    mo_status status = mo_read_graph(path, &from->read, &g, NULL, err);

    if (status == MO_OK)
        status = mo_graph_digest(g, digest, err);
    mo_graph_free(g);
    return status;
}

static mo_status digest_cluster(const mo_locate_query *from, const char *path,
                                uint64_t *digest, mo_error *err)
{
    mo_cluster *cluster = NULL;
    mo_status status = mo_cluster_read(path, &cluster, err);

    (void) from;
    if (status == MO_OK)
        status = mo_cluster_digest(cluster, digest, err);
    mo_cluster_free(cluster);
    return status;
}

static mo_status digest_profile(const mo_locate_query *from, const char *path,
                                uint64_t *digest, mo_error *err)
{
    mo_profile *profile = NULL;
    mo_status status = mo_profile_read(path, &profile, err);

    (void) from;
    if (status == MO_OK)
        status = mo_profile_digest(profile, digest, err);
    mo_profile_free(profile);
    return status;
}

static mo_status digest_rules(const mo_locate_query *from, const char *path,
                              uint64_t *digest, mo_error *err)
{
    mo_fusion_rules *rules = NULL;
    mo_status status = mo_fusion_rules_load(path, &rules, err);

    (void) from;
    if (status == MO_OK)
        status = mo_fusion_rules_digest(rules, digest, err);
    mo_fusion_rules_free(rules);
    return status;
}

static bool is_graph_root(const char *root)
{
    const mo_read_format *format = mo_read_formats;

    while (format->name && strcmp(format->root, root) != 0)
        format++;
    return format->name != NULL;
}

static bool is_cluster_root(const char *root)
{
    return strcmp(root, "cluster") == 0 || strcmp(root, "system") == 0;
}

static bool is_profile_root(const char *root)
{
    return strcmp(root, "profile") == 0;
}

static const char *const xml[] = { ".xml", ".graphml", NULL };
static const char *const plain[] = { ".rules", ".fusion", ".txt", NULL };

static const kind graph_kind = { "graph",
                                 "--graph",
                                 { ".graphml", xml, is_graph_root, MOST_BYTES },
                                 digest_graph };
static const kind cluster_kind = { "cluster",
                                   "--cluster",
                                   { ".cluster.xml", xml, is_cluster_root,
                                     1 << 26 },
                                   digest_cluster };
static const kind profile_kind = { "profile",
                                   "--profile",
                                   { ".profile.xml", xml, is_profile_root,
                                     1 << 28 },
                                   digest_profile };
static const kind rules_kind = { "file of fusion rules",
                                 "--fusion",
                                 { ".rules", plain, NULL, MO_FUSION_MAX_FILE },
                                 digest_rules };

/* State of a search. */
typedef struct quest {
    const kind *kind;
    const mo_locate_query *from;
    const mo_driver_log *logger;
    uint64_t wanted;
    int looked;
    char nearest[256]; /* "name, which is 0123": the first candidate with
                          another digest */
} quest;

/* An unreadable file is not a match. */
static bool is_wanted(void *context, const char *path)
{
    quest *q = context;
    uint64_t digest;

    q->looked++;
    if (q->kind->digest(q->from, path, &digest, NULL) != MO_OK)
        return false;
    mo_driver_log_info(q->logger, "%s is %s %016" PRIx64, path, q->kind->what,
                       digest);
    if (digest == q->wanted)
        return true;
    if (!q->nearest[0])
        snprintf(q->nearest, sizeof q->nearest, "; %.150s is %016" PRIx64, path,
                 digest);
    return false;
}

static mo_status find_input(const kind *k, const mo_locate_query *from,
                            const mo_driver_log *logger, const char *given,
                            bool has, uint64_t wanted, char **path,
                            mo_error *err)
{
    quest q = { .kind = k, .from = from, .logger = logger, .wanted = wanted };
    mo_status status;

    if (given) {
        *path = strdup(given);
        return *path ? MO_OK : mo_fail_memory(err);
    }
    if (!has)
        return MO_OK;
    status = mo_file_search(from->beside, from->graph, &k->files, is_wanted, &q,
                            path, err);
    if (status == MO_OK && !*path)
        status = mo_fail(err, MO_E_INPUT,
                         "no %s %016" PRIx64 ", which the solution is of, "
                         "among %d files beside it, in the working folder and "
                         "in MOIRAI_PATH%s; give it with %s",
                         k->what, wanted, q.looked, q.nearest, k->option);
    return status;
}

static mo_status compare_digest(const char *what, const char *path, bool has,
                                uint64_t wanted, uint64_t found, mo_error *err)
{
    if (!has || wanted == found)
        return MO_OK;
    return mo_fail_at(err, MO_E_INPUT, path, 0,
                      "is another %s: %016" PRIx64 ", but the solution is of "
                      "%016" PRIx64,
                      what, found, wanted);
}

static bool digest_built_in(const mo_cluster_builtin *c, uint64_t *digest)
{
    mo_cluster *cluster = NULL;
    bool done = mo_cluster_read_memory(c->name, c->text, strlen(c->text),
                                       &cluster, NULL) == MO_OK &&
                mo_cluster_digest(cluster, digest, NULL) == MO_OK;

    mo_cluster_free(cluster);
    return done;
}

/* Returns the name of the built-in cluster with that digest, or NULL. */
static const char *built_in_cluster(uint64_t wanted)
{
    for (const mo_cluster_builtin *c = mo_cluster_builtins; c->name; c++) {
        uint64_t digest;

        if (digest_built_in(c, &digest) && digest == wanted)
            return c->name;
    }
    return NULL;
}

/* Fails for a built-in cluster of another digest, before times are requested
 * that ops lack on its devices. */
static mo_status refuse_built_in(const char *name, const mo_provenance *origin,
                                 mo_error *err)
{
    for (const mo_cluster_builtin *c = mo_cluster_builtins;
         c->name && origin->has_cluster; c++) {
        uint64_t digest;

        if (strcmp(c->name, name) == 0 && digest_built_in(c, &digest))
            return compare_digest("cluster", name, true, origin->cluster,
                                  digest, err);
    }
    return MO_OK;
}

static mo_status find_cluster(const mo_locate_query *what,
                              const mo_provenance *origin,
                              const mo_driver_log *logger, char **path,
                              mo_error *err)
{
    const char *name = what->cluster;

    mo_status status = name ? refuse_built_in(name, origin, err) : MO_OK;

    if (status != MO_OK)
        return status;
    if (!name && origin->has_cluster)
        name = built_in_cluster(origin->cluster);
    return find_input(&cluster_kind, what, logger, name, origin->has_cluster,
                      origin->cluster, path, err);
}

mo_status mo_locate_inputs(const mo_locate_query *what,
                           const mo_provenance *origin,
                           const mo_driver_log *logger,
                           mo_locate_result *located, mo_error *err)
{
    mo_status status;

    *located = (mo_locate_result){ 0 };
    if (!what->graph && !origin->has_graph)
        return mo_fail(err, MO_E_INPUT,
                       "it does not say which graph it is of; give the graph "
                       "with --graph");
    status = find_cluster(what, origin, logger, &located->cluster, err);
    if (status == MO_OK) {
        /* A built-in rule set is identified by name. */
        const char *name = what->rules;

        if (!name && !origin->has_rules)
            name = origin->has_options ? origin->fusion : "none";
        status = find_input(&rules_kind, what, logger, name, origin->has_rules,
                            origin->rules, &located->rules, err);
    }
    if (status == MO_OK)
        status = find_input(&profile_kind, what, logger, what->profile,
                            origin->has_profile, origin->profile,
                            &located->profile, err);
    if (status == MO_OK)
        status =
            find_input(&graph_kind, what, logger, what->graph,
                       origin->has_graph, origin->graph, &located->graph, err);
    return status;
}

void mo_locate_result_clear(mo_locate_result *located)
{
    free(located->graph);
    free(located->cluster);
    free(located->profile);
    free(located->rules);
    *located = (mo_locate_result){ 0 };
}

mo_status mo_locate_verify_digests(const mo_provenance *origin,
                                   const mo_locate_result *located,
                                   const mo_prepared *made, mo_error *err)
{
    const mo_instance *x = made->loaded.instance;
    mo_status status =
        compare_digest("graph", located->graph, origin->has_graph,
                       origin->graph, made->o.graph_digest, err);

    if (status == MO_OK)
        status = compare_digest("cluster", made->loaded.cluster->file,
                                origin->has_cluster, origin->cluster,
                                x->cluster_digest, err);
    if (status == MO_OK)
        status =
            compare_digest("profile", located->profile, origin->has_profile,
                           origin->profile, x->profile_digest, err);
    if (status == MO_OK)
        status = compare_digest("file of fusion rules", located->rules,
                                origin->has_rules, origin->rules,
                                made->o.rules_digest, err);
    if (status == MO_OK && origin->has_instance &&
        origin->instance != x->digest)
        status = mo_fail(
            err, MO_E_INPUT,
            "graph and cluster are those of the solution, but the times come "
            "out differently: instance %016" PRIx64 ", not %016" PRIx64
            "; was the model made with another --cost, --shape or --profile, "
            "or by another version?",
            x->digest, origin->instance);
    return status;
}
