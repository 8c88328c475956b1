/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/locate.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "coarsen/fusion_rules.h"
#include "cost/cluster.h"
#include "cost/profile.h"
#include "driver/file_hints.h"
#include "driver/weight_files.h"
#include "solvers/process/path_util.h"

/* Of graphs: of weights beside them only the beginning is read. */
#define MOST_BYTES INT64_MAX

/* One kind of input to search for. */
typedef struct kind {
    const char *what, *option;
    mo_file_search_spec files;
    mo_status (*digest)(const mo_read_options *read, const char *path,
                        uint64_t *digest, mo_error *err);
} kind;

static mo_status digest_graph(const mo_read_options *read, const char *path,
                              uint64_t *digest, mo_error *err)
{
    mo_graph *g = NULL;
    mo_status status = mo_read_graph(path, read, &g, NULL, err);

    if (status == MO_OK)
        status = mo_graph_digest(g, digest, err);
    mo_graph_free(g);
    return status;
}

static mo_status digest_cluster(const mo_read_options *read, const char *path,
                                uint64_t *digest, mo_error *err)
{
    mo_cluster *cluster = NULL;
    mo_status status = mo_cluster_read(path, &cluster, err);

    (void) read;
    if (status == MO_OK)
        status = mo_cluster_digest(cluster, digest, err);
    mo_cluster_free(cluster);
    return status;
}

static mo_status digest_profile(const mo_read_options *read, const char *path,
                                uint64_t *digest, mo_error *err)
{
    mo_profile *profile = NULL;
    mo_status status = mo_profile_read(path, &profile, err);

    (void) read;
    if (status == MO_OK)
        status = mo_profile_digest(profile, digest, err);
    mo_profile_free(profile);
    return status;
}

static mo_status digest_rules(const mo_read_options *read, const char *path,
                              uint64_t *digest, mo_error *err)
{
    mo_fusion_rules *rules = NULL;
    mo_status status = mo_fusion_rules_load(path, &rules, err);

    (void) read;
    if (status == MO_OK)
        status = mo_fusion_rules_digest(rules, digest, err);
    mo_fusion_rules_free(rules);
    return status;
}

static bool is_graph(mo_input *input, mo_error *err)
{
    const mo_read_format *format = NULL;

    return mo_read_find_format(input, &format, err) == MO_OK && format;
}

static bool is_cluster(mo_input *input, mo_error *err)
{
    char root[64];

    return mo_read_root(input, root, sizeof root, err) == MO_OK &&
           (strcmp(root, "cluster") == 0 || strcmp(root, "system") == 0);
}

static bool is_profile(mo_input *input, mo_error *err)
{
    char root[64];

    return mo_read_root(input, root, sizeof root, err) == MO_OK &&
           strcmp(root, "profile") == 0;
}

static const char *const graphs[] = { ".xml",  ".graphml", ".onnx",
                                      ".gguf", ".json",    NULL };
static const char *const xml[] = { ".xml", ".graphml", NULL };
static const char *const plain[] = { ".rules", ".fusion", ".txt", NULL };

/* In the order of mo_locate_kind; the last has no digest. */
static const kind kinds[MO_LOCATE_KINDS] = {
    { "graph",
      "--graph",
      { ".graphml", graphs, is_graph, MOST_BYTES },
      digest_graph },
    { "cluster",
      "--cluster",
      { ".cluster.xml", xml, is_cluster, 1 << 26 },
      digest_cluster },
    { "profile",
      "--profile",
      { ".profile.xml", xml, is_profile, 1 << 28 },
      digest_profile },
    { "file of fusion rules",
      "--fusion",
      { ".rules", plain, NULL, MO_FUSION_MAX_FILE },
      digest_rules },
    { .what = "fitted cost model", .option = "--cost roofline:FILE" },
};

/* State of a search. */
typedef struct quest {
    const kind *kind;
    const mo_read_options *read;
    const mo_driver_log *logger;
    mo_locate_input *input;
} quest;

/* A folder of transformers was given as its name or as its config.json. */
static bool has_name(const char *path, const char *name)
{
    const char *base = mo_path_basename(path);
    size_t folder = (size_t) (base - path), length = strlen(name);

    if (strcmp(base, name) == 0)
        return true;
    return strcmp(base, "config.json") == 0 && folder > length &&
           strncmp(base - 1 - length, name, length) == 0 &&
           (folder == length + 1 || base[-2 - (ptrdiff_t) length] == '/');
}

/* A file with another digest, or one that cannot be read, is not a match; it
 * is noted if it has the name of the input. */
static bool is_wanted(void *context, const char *path, mo_error *err)
{
    quest *q = context;
    mo_locate_input *input = q->input;
    mo_error why = { 0 };
    uint64_t digest = 0;
    bool same_name = has_name(path, input->name);
    mo_status status = q->kind->digest(q->read, path, &digest, &why);

    if (status == MO_OK)
        mo_driver_log_info(q->logger, "%s is %s %016" PRIx64, path,
                           q->kind->what, digest);
    if (status == MO_OK && digest == input->digest)
        return true;
    if (status == MO_E_MEMORY)
        mo_fail_memory(err);
    if (!same_name || input->note[0])
        return false;
    if (status == MO_OK)
        snprintf(input->note, sizeof input->note,
                 "%.150s is another: %016" PRIx64, path, digest);
    else
        snprintf(input->note, sizeof input->note, "%.100s: %.200s", path,
                 why.text);
    return false;
}

static mo_status compare_digest(const char *what, const char *path, bool has,
                                uint64_t wanted, const char *name,
                                uint64_t found, mo_error *err)
{
    if (!has || wanted == found)
        return MO_OK;
    return mo_fail_at(err, MO_E_INPUT, path, 0,
                      "is another %s: %016" PRIx64 ", but the solution is of "
                      "%016" PRIx64 "%s%.100s",
                      what, found, wanted, name[0] ? ", " : "", name);
}

static bool digest_built_in(const mo_cluster_builtin *c, uint64_t *digest,
                            mo_error *err)
{
    mo_cluster *cluster = NULL;
    bool done = mo_cluster_read_memory(c->name, c->text, strlen(c->text),
                                       &cluster, err) == MO_OK &&
                mo_cluster_digest(cluster, digest, err) == MO_OK;

    mo_cluster_free(cluster);
    return done;
}

/* Returns the name of the built-in cluster with that digest, or NULL; err has
 * a status if one could not be built. */
static const char *built_in_cluster(uint64_t wanted, mo_error *err)
{
    for (const mo_cluster_builtin *c = mo_cluster_builtins; c->name; c++) {
        uint64_t digest;

        if (digest_built_in(c, &digest, err) && digest == wanted)
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

        if (strcmp(c->name, name) != 0)
            continue;
        if (!digest_built_in(c, &digest, err))
            return mo_error_set_location(err, name, 0);
        return compare_digest("cluster", name, true, origin->cluster,
                              origin->cluster_name, digest, err);
    }
    return MO_OK;
}

mo_read_options mo_locate_read_options(const mo_locate_query *what,
                                       const mo_provenance *origin,
                                       mo_provenance_texts *texts)
{
    mo_read_options read = mo_answer_read_options(origin, texts);

    read.hints = what->read.hints;
    if (what->read.shapes.count > 0)
        read.shapes = what->read.shapes;
    if (what->read.values.count > 0)
        read.values = what->read.values;
    return read;
}

/* The name after roofline: in the solution; "": no such file. */
static const char *cost_file_of(const mo_provenance *origin)
{
    const mo_driver_load_options load = { .cost = origin->cost };
    const char *file = mo_driver_load_cost_file(&load);

    return file ? mo_path_basename(file) : "";
}

/* What the solution records of each input, and what the caller gives. */
static void list_inputs(const mo_locate_query *what,
                        const mo_provenance *origin, mo_locate_search *search)
{
    const mo_locate_input inputs[MO_LOCATE_KINDS] = {
        { .name = origin->graph_name,
          .has_digest = origin->has_graph,
          .digest = origin->graph,
          .needed = true },
        { .name = origin->cluster_name,
          .has_digest = origin->has_cluster,
          .digest = origin->cluster,
          .needed = origin->has_cluster || what->cluster },
        { .name = origin->profile_name,
          .has_digest = origin->has_profile,
          .digest = origin->profile,
          .needed = origin->has_profile || what->profile },
        { .name = origin->rules_name,
          .has_digest = origin->has_rules,
          .digest = origin->rules,
          .needed = true },
        { .name = cost_file_of(origin),
          .needed = !what->cost && cost_file_of(origin)[0] },
    };

    for (int i = 0; i < MO_LOCATE_KINDS; i++) {
        search->inputs[i] = inputs[i];
        search->inputs[i].what = kinds[i].what;
        search->inputs[i].option = kinds[i].option;
    }
}

/* Returns the input as given by the caller, or a built-in one; NULL: to be
 * searched for. A built-in rule set is identified by name. */
static const char *given_input(const mo_locate_query *what,
                               const mo_provenance *origin, int i,
                               mo_error *err)
{
    switch (i) {
    case MO_LOCATE_GRAPH:
        return what->graph;
    case MO_LOCATE_CLUSTER:
        return what->cluster || !origin->has_cluster
                   ? what->cluster
                   : built_in_cluster(origin->cluster, err);
    case MO_LOCATE_PROFILE:
        return what->profile;
    case MO_LOCATE_RULES:
        if (what->rules || origin->has_rules)
            return what->rules;
        /* Files of earlier versions have identity columns without options. */
        return origin->has_options     ? origin->fusion
               : origin->columns.n > 0 ? "none"
                                       : "default";
    default:
        return NULL;
    }
}

/* A fitted cost model has no digest: its name decides. */
static char *find_cost_file(const mo_locate_search *search, const char *name,
                            const mo_path_list *hints)
{
    char *path = mo_search_folders_find(&search->folders, name);

    for (size_t i = 0; i < hints->n && !path; i++)
        if (strcmp(mo_path_basename(hints->paths[i]), name) == 0 &&
            access(hints->paths[i], R_OK) == 0)
            path = strdup(hints->paths[i]);
    return path;
}

mo_status mo_locate_search_run(const mo_locate_query *what,
                               const mo_provenance *origin,
                               const mo_driver_log *logger,
                               mo_locate_search *search, mo_error *err)
{
    mo_provenance_texts texts;
    const mo_read_options read = mo_locate_read_options(what, origin, &texts);
    mo_path_list hints = { 0 };
    mo_status status =
        mo_search_folders_add_beside(&search->folders, what->beside, err);

    if (status == MO_OK)
        status =
            mo_file_hints_resolve(&origin->files, what->beside, &hints, err);
    if (status == MO_OK)
        status =
            mo_search_folders_add_beside(&search->folders, what->graph, err);
    if (status == MO_OK)
        status =
            mo_search_folders_add_beside(&search->folders, what->also, err);
    if (status == MO_OK)
        status = mo_search_folders_add_usual(&search->folders, err);
    list_inputs(what, origin, search);
    for (int i = 0; i < MO_LOCATE_KINDS && status == MO_OK; i++) {
        mo_locate_input *input = &search->inputs[i];
        mo_error why = { 0 };
        const char *given = given_input(what, origin, i, &why);
        quest q = { &kinds[i], &read, logger, input };
        const mo_file_search_query query = { .kind = &kinds[i].files,
                                             .name = input->name,
                                             .beside = what->beside,
                                             .hints = hints.paths,
                                             .test = is_wanted,
                                             .context = &q };

        if (why.status == MO_E_MEMORY)
            status = mo_fail_memory(err);
        else if (given) {
            input->path = strdup(given);
            status = input->path ? MO_OK : mo_fail_memory(err);
        } else if (input->has_digest)
            status =
                mo_file_search(&search->folders, &query, &input->path, err);
        else if (i == MO_LOCATE_COST && input->needed)
            input->path = find_cost_file(search, input->name, &hints);
    }
    mo_path_list_clear(&hints);
    return status;
}

void mo_locate_search_clear(mo_locate_search *search)
{
    for (int i = 0; i < MO_LOCATE_KINDS; i++)
        free(search->inputs[i].path);
    mo_search_folders_clear(&search->folders);
    *search = (mo_locate_search){ 0 };
}

/* Appends to a text of limited size; what does not fit is left out. */
static void append(char *text, size_t size, const char *format, ...)
    MO_PRINTF(3, 4);

static void append(char *text, size_t size, const char *format, ...)
{
    size_t used = strlen(text);
    va_list args;

    va_start(args, format);
    vsnprintf(text + used, size - used, format, args);
    va_end(args);
}

/* Weight files that are not beside the graph, which was found. */
static mo_status append_weights(const char *graph, const mo_read_options *read,
                                char *text, size_t size, mo_error *err)
{
    mo_weight_files files = { 0 };
    mo_graph *g = NULL;
    mo_error why = { 0 };
    mo_status status = mo_read_graph(graph, read, &g, NULL, &why);

    if (status == MO_OK)
        status = mo_weight_files_list(g, graph, &files, &why);
    for (size_t i = 0; status == MO_OK && i < files.n; i++)
        if (access(files.list[i].path, F_OK) != 0)
            append(text, size, "; weights %.100s", files.list[i].name);
    mo_weight_files_clear(&files);
    mo_graph_free(g);
    return status == MO_E_MEMORY ? mo_fail_memory(err) : MO_OK;
}

/* Fills err with one line that names everything missing with its digest, files
 * of the same name that differ, the searched folders and the options that give
 * the inputs; returns MO_E_INPUT. At least one input is missing. */
static mo_status fail_missing(const mo_locate_query *what,
                              const mo_provenance *origin,
                              const mo_locate_search *search, mo_error *err)
{
    mo_provenance_texts texts;
    const mo_read_options read = mo_locate_read_options(what, origin, &texts);
    const mo_locate_input *graph = &search->inputs[MO_LOCATE_GRAPH];
    char missing[640] = "", searched[200] = "", options[100] = "";
    int n = 0;

    for (int i = 0; i < MO_LOCATE_KINDS; i++) {
        const mo_locate_input *input = &search->inputs[i];

        if (!input->needed || input->path)
            continue;
        n++;
        append(missing, sizeof missing, "%s%s", missing[0] ? "; " : "",
               input->what);
        if (input->name[0])
            append(missing, sizeof missing, " %.90s", input->name);
        if (input->has_digest)
            append(missing, sizeof missing, " (%016" PRIx64 ")", input->digest);
        if (input->note[0])
            append(missing, sizeof missing, ", but %s", input->note);
        append(options, sizeof options, "%s%s", options[0] ? ", " : "",
               input->option);
        if (i == MO_LOCATE_GRAPH && origin->shapes.is_cut &&
            what->read.shapes.count == 0)
            append(options, sizeof options, " with --shape");
        if (i == MO_LOCATE_GRAPH && origin->values.is_cut &&
            what->read.values.count == 0)
            append(options, sizeof options, " with --value");
    }
    if (what->weights && graph->path &&
        append_weights(graph->path, &read, missing, sizeof missing, err) !=
            MO_OK)
        return MO_E_MEMORY;
    for (size_t i = 0; i < search->folders.n; i++)
        append(searched, sizeof searched, "%s%.60s", i > 0 ? ", " : "",
               search->folders.path[i]);
    return mo_fail_at(err, MO_E_INPUT, what->beside, 0,
                      "missing here: %s; searched: %s; give %s with %s, add "
                      "%s to MOIRAI_PATH, or run moirai-exec --bundle where "
                      "everything is",
                      missing, searched, n > 1 ? "them" : "it", options,
                      n > 1 ? "their folders" : "its folder");
}

static char *take_path(mo_locate_search *search, int i)
{
    char *path = search->inputs[i].path;

    search->inputs[i].path = NULL;
    return path;
}

/* The caller's cost model, else that of the solution with the file found. */
static mo_status take_cost(const mo_locate_query *what,
                           const mo_provenance *origin,
                           const mo_locate_search *search, char **cost,
                           mo_error *err)
{
    const mo_locate_input *file = &search->inputs[MO_LOCATE_COST];

    if (file->path)
        *cost = mo_path_format("roofline:%s", file->path);
    else if (what->cost || origin->cost[0])
        *cost = strdup(what->cost ? what->cost : origin->cost);
    else
        return MO_OK;
    return *cost ? MO_OK : mo_fail_memory(err);
}

mo_status mo_locate_inputs(const mo_locate_query *what,
                           const mo_provenance *origin,
                           const mo_driver_log *logger,
                           mo_locate_result *located, mo_error *err)
{
    mo_locate_search search = { 0 };
    mo_status status;

    *located = (mo_locate_result){ 0 };
    if (!what->graph && !origin->has_graph)
        return mo_fail_at(err, MO_E_INPUT, what->beside, 0,
                          "has no identity of its graph; give the graph with "
                          "--graph");
    status =
        what->cluster ? refuse_built_in(what->cluster, origin, err) : MO_OK;
    if (status == MO_OK)
        status = mo_locate_search_run(what, origin, logger, &search, err);
    for (int i = 0; i < MO_LOCATE_KINDS && status == MO_OK; i++)
        if (search.inputs[i].needed && !search.inputs[i].path)
            status = fail_missing(what, origin, &search, err);
    if (status == MO_OK)
        status = take_cost(what, origin, &search, &located->cost, err);
    if (status == MO_OK) {
        located->graph = take_path(&search, MO_LOCATE_GRAPH);
        located->cluster = take_path(&search, MO_LOCATE_CLUSTER);
        located->profile = take_path(&search, MO_LOCATE_PROFILE);
        located->rules = take_path(&search, MO_LOCATE_RULES);
    }
    mo_locate_search_clear(&search);
    return status;
}

void mo_locate_result_clear(mo_locate_result *located)
{
    free(located->graph);
    free(located->cluster);
    free(located->profile);
    free(located->rules);
    free(located->cost);
    *located = (mo_locate_result){ 0 };
}

mo_status mo_locate_verify_digests(const mo_provenance *origin,
                                   const mo_locate_result *located,
                                   const mo_problem *problem, mo_error *err)
{
    const mo_instance *x = problem->instance;
    mo_status status = compare_digest(
        "graph", located->graph, origin->has_graph, origin->graph,
        origin->graph_name, problem->made_of.graph_digest, err);

    if (status == MO_OK)
        status = compare_digest("cluster", problem->cluster->file,
                                origin->has_cluster, origin->cluster,
                                origin->cluster_name, x->cluster_digest, err);
    if (status == MO_OK)
        status = compare_digest("profile", located->profile,
                                origin->has_profile, origin->profile,
                                origin->profile_name, x->profile_digest, err);
    if (status == MO_OK)
        status =
            compare_digest("file of fusion rules", located->rules,
                           origin->has_rules, origin->rules, origin->rules_name,
                           problem->made_of.rules_digest, err);
    if (status == MO_OK && origin->has_instance &&
        origin->instance != x->digest)
        status = mo_fail(
            err, MO_E_INPUT,
            "graph and cluster are those of the solution, but the times come "
            "out differently: instance %016" PRIx64 ", not %016" PRIx64
            "; was the model made with another --cost, --precision, --weights, "
            "--shape or --profile, or by another version?",
            x->digest, origin->instance);
    return status;
}
