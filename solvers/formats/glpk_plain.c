/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reader of GLPK's plain solution file (glpsol -w), also HiGHS's style 2:
 *
 *     c Status:     INTEGER OPTIMAL
 *     s mip 8 11 o 6.75             s bas 8 11 f f 5.9    s ipt 8 11 o 5.9
 *     i 1 3                         i 1 b 3 0             i 1 3 0
 *     j 1 6.75                      j 1 b 5.9 0           j 1 5.9 0
 *     e o f
 *
 * Rows are i, columns j, in the model's order and without names. HiGHS ends
 * after the s line where it has no solution.
 */
#include "solvers/formats/solfmt.h"

#include <string.h>

static bool sniff_glpk_plain(const char *text)
{
    while (*text == 'c' && strchr(" \t\r\n", text[1])) {
        if (text[1] == '\0')
            return false;
        text += strcspn(text, "\n");
        text += strspn(text, " \t\r\n");
    }
    return mo_solfmt_has_prefix(text, "s mip ") ||
           mo_solfmt_has_prefix(text, "s bas ") ||
           mo_solfmt_has_prefix(text, "s ipt ");
}

typedef struct plain_header {
    double rows, columns;
    bool basic; /* lines have a status before the value */
} plain_header;

/* One letter: o, f, n, u (and i, infeasible, of LPs). */
static mo_solution_status status_of(const mo_solfmt_token *status)
{
    switch (*status->at) {
    case 'o':
        return MO_SOLUTION_STATUS_OPTIMAL;
    case 'f':
        return MO_SOLUTION_STATUS_FEASIBLE;
    case 'n':
        return MO_SOLUTION_STATUS_INFEASIBLE;
    default:
        return MO_SOLUTION_STATUS_NO_SOLUTION;
    }
}

/* Status of a basic solution by two letters: n of the dual is unbounded, two f
 * are optimal. */
static mo_solution_status basic_status(const mo_solfmt_token *primal,
                                       const mo_solfmt_token *dual)
{
    mo_solution_status claim = status_of(primal);

    if (claim != MO_SOLUTION_STATUS_FEASIBLE)
        return claim;
    if (*dual->at == 'n')
        return MO_SOLUTION_STATUS_UNBOUNDED;
    return *dual->at == 'f' ? MO_SOLUTION_STATUS_OPTIMAL
                            : MO_SOLUTION_STATUS_FEASIBLE;
}

/* After "j": a number, an optional status, the value. */
static mo_status read_column(mo_solfmt_reader *r, const plain_header *h,
                             mo_error *err)
{
    static const mo_solfmt_token nameless = { 0 };
    double number, value;
    mo_solfmt_token word;
    mo_status status =
        mo_solfmt_next_number(r, "the column's number", &number, err);

    if (status != MO_OK)
        return status;
    if (number != (double) r->n + 1 || number > h->columns)
        return mo_fail_at(err, MO_E_SYNTAX, r->file, r->line,
                          "column %.17g where column %zu of %.17g should be",
                          number, r->n + 1, h->columns);
    if (h->basic)
        mo_solfmt_next_token(r, &word);
    status = mo_solfmt_next_number(r, "the column's value", &value, err);
    return status == MO_OK ? mo_solfmt_add_value(r, &nameless, value, err)
                           : status;
}

static mo_status read_lines(mo_solfmt_reader *r, const plain_header *h,
                            bool *ended, mo_error *err)
{
    mo_status status = MO_OK;
    mo_solfmt_token kind;

    *ended = false;
    while (status == MO_OK && !*ended && mo_solfmt_next_nonblank_line(r)) {
        mo_solfmt_next_token(r, &kind);
        if (mo_solfmt_token_is(&kind, "j"))
            status = read_column(r, h, err);
        else if (mo_solfmt_token_is(&kind, "e"))
            *ended = true;
        else if (!mo_solfmt_token_is(&kind, "i") &&
                 !mo_solfmt_token_is(&kind, "c"))
            status = mo_fail_at(err, MO_E_SYNTAX, r->file, r->line,
                                "neither row, column nor end");
    }
    return status;
}

static mo_status read_glpk_plain(mo_solfmt_reader *r, mo_error *err)
{
    bool ended, begun;
    plain_header h;
    mo_status status;
    int head_line;
    mo_solfmt_token word;
    double objective;

    do
        mo_solfmt_next_nonblank_line(r);
    while (*r->word == 'c');
    head_line = r->line;
    mo_solfmt_next_token(r, &word);
    mo_solfmt_next_token(r, &word);
    h.basic = mo_solfmt_token_is(&word, "bas");
    status = mo_solfmt_next_number(r, "the number of rows", &h.rows, err);
    if (status == MO_OK)
        status =
            mo_solfmt_next_number(r, "the number of columns", &h.columns, err);
    if (status == MO_OK) {
        mo_solfmt_token primal, dual;
        bool complete = mo_solfmt_next_token(r, &primal);

        if (complete && h.basic)
            complete = mo_solfmt_next_token(r, &dual);
        if (!complete) {
            status = mo_solfmt_fail_truncated(r, "the solution's status", err);
        } else {
            r->solution->claim =
                h.basic ? basic_status(&primal, &dual) : status_of(&primal);
        }
    }
    if (status == MO_OK)
        status =
            mo_solfmt_next_number(r, "the objective value", &objective, err);
    if (status == MO_OK)
        mo_solfmt_set_objective(r, objective);
    if (status == MO_OK)
        status = read_lines(r, &h, &ended, err);
    if (status != MO_OK)
        return status;
    begun = r->line > head_line;
    if (!ended && (begun || r->solution->claim == MO_SOLUTION_STATUS_OPTIMAL ||
                   r->solution->claim == MO_SOLUTION_STATUS_FEASIBLE))
        return mo_solfmt_fail_truncated(r, "'e o f'", err);
    if (ended && (double) r->n != h.columns)
        return mo_fail_at(err, MO_E_SYNTAX, r->file, r->line,
                          "%zu columns, not the %.17g it promises", r->n,
                          h.columns);
    r->solution->nameless = true;
    return MO_OK;
}

const mo_solfmt mo_solfmt_glpk_plain = { "glpk-plain",
                                         "GLPK (-w), HiGHS (style 2)",
                                         sniff_glpk_plain, read_glpk_plain };
