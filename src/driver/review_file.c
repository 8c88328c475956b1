/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "driver/review.h"
#include "driver/text_file.h"
#include "solvers/answer/placement_list.h"

static mo_status judge_listing(const mo_review_source *from, const char *path,
                               char *text, size_t size, mo_review *review,
                               mo_error *err)
{
    const mo_instance *x;
    int *device;
    mo_error why = { 0 };
    mo_status status;

    if (!from->graph)
        return mo_fail_at(err, MO_E_USAGE, path, 0,
                          "is a placement, which does not say of what; give "
                          "the graph with --graph");
    status = mo_review_instance(from->prepare, from->graph, path, from->logger,
                                review, err);
    if (status != MO_OK)
        return status;
    x = review->made.loaded.instance;
    device = calloc((size_t) x->n + 1, sizeof *device);
    if (!device)
        return mo_fail_memory(err);
    status = mo_placement_list_read(path, text, size, x, device, &why);
    if (status == MO_OK)
        status = mo_answer_evaluate_placement(x, &review->regime, device,
                                              &review->judgement, &why);
    else if (status == MO_E_INPUT)
        status = mo_answer_evaluation_reject(why.text, &review->judgement);
    if (status != MO_OK)
        *err = why;
    free(device);
    return status;
}

static mo_status refuse_empty(const char *path, const mo_solution *solution,
                              mo_error *err)
{
    if (solution->n > 0)
        return MO_OK;
    return mo_fail_at(err, MO_E_INPUT, path, 0,
                      "holds no solution to check; it says: %s",
                      mo_solution_status_names[solution->claim]);
}

static mo_status judge_columns(const mo_review_source *from, const char *path,
                               const char *text, size_t size, mo_review *review,
                               mo_error *err)
{
    mo_solution *solution = NULL;
    mo_status status =
        mo_solution_read_memory(path, text, size, &solution, err);

    if (status == MO_OK)
        status = refuse_empty(path, solution, err);
    if (status == MO_OK) {
        status = mo_answer_provenance(solution, &review->origin, err);
        if (status != MO_OK)
            mo_error_set_location(err, path, 0);
    }
    if (status == MO_OK)
        status = mo_review_instance(from->prepare, from->graph, path,
                                    from->logger, review, err);
    if (status == MO_OK)
        status = mo_review_solution(solution, from->tolerance, review, err);
    mo_solution_free(solution);
    return status;
}

/* With a graph given, a text in no solver's format is treated as a malformed
 * placement, so that the error names its line. */
static bool is_listing(const mo_review_source *from, const char *text)
{
    return mo_placement_list_sniff(text) ||
           (from->graph && !mo_solution_sniff(text));
}

mo_status mo_review_file(const mo_review_source *from, const char *path,
                         mo_review *review, mo_error *err)
{
    const char *name = strcmp(path, "-") == 0 ? "<stdin>" : path;
    char *text = NULL;
    size_t size;
    mo_status status = mo_text_file_read(path, &text, &size, err);

    if (status == MO_OK && is_listing(from, text))
        status = judge_listing(from, name, text, size, review, err);
    else if (status == MO_OK)
        status = judge_columns(from, name, text, size, review, err);
    free(text);
    return status;
}
