/*
 * HiGHS, pretty (style 1):
 *
 *     Columns
 *         Index Status   Lower   Upper  Primal    Dual  Type        Name
 *             0              0    1000    6.75          Continuous  w
 *     Rows
 *         ...
 *
 *     Model status: Optimal
 *
 *     Objective value: 6.75
 *
 * Status, Primal and Dual may be blank, and a long number moves what is behind
 * it, so fields are told by what they are: Status is the only one before the
 * name that is no number, and without a Primal there is no Dual.  Type is there
 * where the heading has it.
 */
#include "solvers/formats/highs_status.h"
#include "solvers/formats/solfmt.h"

#include <string.h>

enum { MAX_WORDS = 9 };

static const char status_mark[] = "Model status:";

static bool sniff(const char *text)
{
    if (!mo_layout_begins(text, "Columns"))
        return false;
    text += strlen("Columns");
    return mo_layout_begins(text + strspn(text, " \t\r\n"), "Index");
}

static mo_status fail_row(mo_reading *r, mo_error *err)
{
    return mo_fail_at(err, MO_E_SYNTAX, r->file, r->line,
                      "not a line of HiGHS's table; was the file cut off "
                      "here?");
}

/* Of the words between the number and the type or name. */
static mo_status add_column(mo_reading *r, const mo_word *fields, int n,
                            const mo_word *name, mo_error *err)
{
    double value;
    int numbers = 0;

    if (n > 0 && !mo_word_number(&fields[0], &value)) {
        fields++;
        n--;
    }
    while (numbers < n && mo_word_number(&fields[numbers], &value))
        numbers++;
    if (numbers != n || n < 2 || n > 4)
        return fail_row(r, err);
    if (n == 2)
        return MO_OK;
    mo_word_number(&fields[2], &value);
    return mo_reading_add(r, name, value, err);
}

static mo_status read_column(mo_reading *r, bool has_type, mo_error *err)
{
    mo_word words[MAX_WORDS];
    int behind = has_type ? 2 : 1, n = 0;

    while (n < MAX_WORDS && mo_reading_word(r, &words[n]))
        n++;
    if (n < 3 + behind || mo_reading_rest(r).length > 0)
        return fail_row(r, err);
    return add_column(r, words + 1, n - 1 - behind, &words[n - 1], err);
}

static mo_status read_heading(mo_reading *r, bool *has_type, mo_error *err)
{
    mo_word word, last = { 0 };

    *has_type = false;
    mo_reading_full_line(r);
    mo_reading_full_line(r);
    while (mo_reading_word(r, &word)) {
        *has_type |= mo_word_is(&word, "Type");
        last = word;
    }
    if (!mo_word_is(&last, "Name"))
        return mo_fail_at(err, MO_E_SYNTAX, r->file, r->line,
                          "the columns have no names");
    return MO_OK;
}

static mo_status read_columns(mo_reading *r, mo_error *err)
{
    bool has_type;
    mo_status status = read_heading(r, &has_type, err);

    while (status == MO_OK) {
        mo_word rest;

        if (!mo_reading_full_line(r))
            return mo_reading_cut_off(r, "another column or the rows", err);
        rest = mo_reading_rest(r);
        if (mo_word_is(&rest, "Rows"))
            return MO_OK;
        status = read_column(r, has_type, err);
    }
    return status;
}

static mo_status read(mo_reading *r, mo_error *err)
{
    mo_word told;
    double objective;
    mo_status status = read_columns(r, err);

    if (status != MO_OK)
        return status;
    do {
        if (!mo_reading_full_line(r))
            return mo_reading_cut_off(r, "the model status", err);
    } while (!mo_reading_skip(r, status_mark));
    told = mo_reading_rest(r);
    r->solution->claim = mo_highs_claim(&told, r->n > 0);
    if (!mo_reading_full_line(r) || !mo_reading_skip(r, "Objective value:"))
        return mo_reading_cut_off(r, "the objective value", err);
    status = mo_reading_next_number(r, "the objective value", &objective, err);
    if (status == MO_OK)
        mo_reading_objective(r, objective);
    return status;
}

const mo_layout mo_layout_highs_pretty = { "highs-pretty", "HiGHS (pretty)",
                                           sniff, read };
