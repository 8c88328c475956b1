/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "solvers/formats/solution.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/reader.h"
#include "solvers/formats/solfmt.h"

const char *const mo_solution_status_names[] = {
    "nothing",   "optimal",     "feasible",        "infeasible",
    "unbounded", "no solution", "claimed_optimal", "optimal_as_given"
};

/* The format without a mark is tried last. */
static const mo_solfmt *const formats[] = {
    &mo_solfmt_scip,   &mo_solfmt_gurobi,       &mo_solfmt_gurobi_json,
    &mo_solfmt_highs,  &mo_solfmt_highs_pretty, &mo_solfmt_cbc,
    &mo_solfmt_glpk,   &mo_solfmt_glpk_plain,   &mo_solfmt_cplex,
    &mo_solfmt_miplib,
};

enum { N_LAYOUTS = sizeof formats / sizeof *formats };

#define BYTE_ORDER_MARK "\xef\xbb\xbf"

/* Solvers write 1e+20, 1e+30 or 1e+100 for infinity. */
static const double infinite = 1e20;

void mo_solution_free(mo_solution *solution)
{
    if (!solution)
        return;
    free(solution->values);
    free(solution->text);
    mo_arena_free(solution->arena);
    free(solution);
}

static mo_status new_solution(mo_solution **solution, mo_error *err)
{
    mo_solution *made = calloc(1, sizeof *made);

    if (made)
        made->arena = mo_arena_new();
    if (!made || !made->arena) {
        mo_solution_free(made);
        return mo_fail_memory(err);
    }
    *solution = made;
    return MO_OK;
}

static const mo_solfmt *find_format(const char *text)
{
    for (int i = 0; i < N_LAYOUTS; i++)
        if (formats[i]->sniff(text))
            return formats[i];
    return NULL;
}

bool mo_solution_sniff(const char *text)
{
    return find_format(mo_solfmt_has_prefix(text, BYTE_ORDER_MARK)
                           ? text + 3
                           : text) != NULL;
}

/* Parses solution->text, size bytes with a 0 behind them. */
static mo_status read_text(const char *file, size_t size, mo_solution *solution,
                           mo_error *err)
{
    /* The text after a byte order mark. */
    char *text = size >= 3 && memcmp(solution->text, BYTE_ORDER_MARK, 3) == 0
                     ? solution->text + 3
                     : solution->text;
    const char *zero = memchr(solution->text, 0, size);
    mo_solfmt_reader r = { .file = file,
                           .begin = text,
                           .at = text,
                           .end = solution->text + size,
                           .solution = solution };
    const mo_solfmt *layout;
    uint64_t most;
    mo_status status = mo_reader_memory_limit(&most, err);

    if (status != MO_OK)
        return status;
    /* The columns may take as much memory as the text. */
    most /= sizeof *r.solution->values;
    r.max = most < INT_MAX ? (size_t) most : INT_MAX;
    if (zero) {
        int line = 1;

        for (; text < zero; text++)
            line += *text == '\n' && line < INT_MAX;
        return mo_fail_at(err, MO_E_SYNTAX, file, line,
                          "has a zero byte: not a solution, or damaged");
    }
    while (*text && (unsigned char) *text <= ' ')
        text++;
    if (!*text)
        return mo_fail_at(err, MO_E_SYNTAX, file, 0,
                          "is empty; the solver wrote nothing");
    layout = find_format(text);
    if (!layout) {
        char known[512] = "";
        size_t n = 0;

        for (int i = 0; i < N_LAYOUTS; i++)
            n += (size_t) snprintf(known + n, sizeof known - n, "%s%s",
                                   i > 0 ? ", " : "", formats[i]->help);
        return mo_fail_at(err, MO_E_SYNTAX, file, 1,
                          "not a solution in a layout that is read here: %s",
                          known);
    }
    solution->layout = layout->name;
    status = layout->read(&r, err);
    if (status == MO_OK) {
        /* Drops what the status does not allow; see the header. */
        bool solved = solution->claim == MO_SOLUTION_STATUS_UNKNOWN ||
                      solution->claim == MO_SOLUTION_STATUS_OPTIMAL ||
                      solution->claim == MO_SOLUTION_STATUS_FEASIBLE;

        solution->n = solved ? (int) r.n : 0;
        if (!solved || fabs(solution->objective) >= infinite)
            solution->has_objective = false;
        if (fabs(solution->bound) >= infinite)
            solution->has_bound = false;
        if (fabs(solution->note.bound) >= infinite)
            solution->note.has_bound = false;
    }
    return status;
}

mo_status mo_solution_read(const char *path, mo_solution **solution,
                           mo_error *err)
{
    const char *file = strcmp(path, "-") == 0 ? MO_READER_STDIN : path;
    mo_solution *made = NULL;
    size_t size = 0;
    mo_status status = new_solution(&made, err);

    if (status == MO_OK)
        status = mo_reader_all(path, &made->text, &size, err);
    if (status == MO_OK)
        status = read_text(file, size, made, err);
    if (status == MO_OK)
        *solution = made;
    else
        mo_solution_free(made);
    return status;
}

void mo_solution_files_add(mo_solution_files *files, const char *path,
                           size_t length)
{
    if (files->n < MO_SOLUTION_FILES && length < MO_SOLUTION_FILE_SIZE)
        snprintf(files->path[files->n++], MO_SOLUTION_FILE_SIZE, "%.*s",
                 (int) length, path);
}

mo_status mo_solution_read_memory(const char *file, const char *data,
                                  size_t size, mo_solution **solution,
                                  mo_error *err)
{
    mo_solution *made = NULL;
    size_t room = 0;
    mo_status status = new_solution(&made, err);

    if (status == MO_OK && size == SIZE_MAX)
        status = mo_fail_memory(err);
    if (status == MO_OK)
        status =
            mo_array_reserve((void **) &made->text, &room, size + 1, 1, err);
    if (status == MO_OK) {
        if (size > 0)
            memcpy(made->text, data, size);
        made->text[size] = '\0';
        status = read_text(file, size, made, err);
    }
    if (status == MO_OK)
        *solution = made;
    else
        mo_solution_free(made);
    return status;
}
