/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "solvers/formats/solfmt.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/json.h"
#include "base/number.h"

/* Control characters separate tokens, too: carriage returns above all. */
static bool is_blank(char c)
{
    return (unsigned char) c <= ' ';
}

bool mo_solfmt_token_is(const mo_solfmt_token *word, const char *text)
{
    return strlen(text) == word->length &&
           memcmp(word->at, text, word->length) == 0;
}

bool mo_solfmt_has_prefix(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

bool mo_solfmt_next_line(mo_solfmt_reader *r)
{
    char *end;

    if (r->at == r->end)
        return false;
    end = memchr(r->at, '\n', (size_t) (r->end - r->at));
    r->unended = !end;
    if (r->unended)
        end = r->end;
    r->word = r->at;
    r->line_end = end;
    r->at = end < r->end ? end + 1 : end;
    if (r->line < INT_MAX)
        r->line++;
    while (r->word < r->line_end && is_blank(*r->word))
        r->word++;
    while (r->line_end > r->word && is_blank(r->line_end[-1]))
        r->line_end--;
    return true;
}

bool mo_solfmt_next_nonblank_line(mo_solfmt_reader *r)
{
    while (mo_solfmt_next_line(r))
        if (r->word < r->line_end)
            return true;
    return false;
}

static void skip_blanks(mo_solfmt_reader *r)
{
    while (r->word < r->line_end && is_blank(*r->word))
        r->word++;
}

bool mo_solfmt_next_token(mo_solfmt_reader *r, mo_solfmt_token *word)
{
    char *at = r->word;

    word->at = at;
    while (at < r->line_end && !is_blank(*at))
        at++;
    word->length = (size_t) (at - word->at);
    r->word = at;
    skip_blanks(r);
    return word->length > 0;
}

mo_solfmt_token mo_solfmt_rest_of_line(const mo_solfmt_reader *r)
{
    return (mo_solfmt_token){ r->word, (size_t) (r->line_end - r->word) };
}

bool mo_solfmt_skip_text(mo_solfmt_reader *r, const char *text)
{
    size_t n = strlen(text);

    if ((size_t) (r->line_end - r->word) < n || memcmp(r->word, text, n) != 0)
        return false;
    r->word += n;
    skip_blanks(r);
    return true;
}

/* SCIP prints +infinity, others inf. */
static bool read_infinity(const mo_solfmt_token *word, double *value)
{
    const char *at = word->at;
    size_t n = word->length;
    bool negative = n > 0 && *at == '-';
    mo_solfmt_token rest = { word->at, n };

    if (n > 0 && (*at == '-' || *at == '+')) {
        rest.at++;
        rest.length--;
    }
    if (!mo_solfmt_token_is(&rest, "inf") &&
        !mo_solfmt_token_is(&rest, "infinity") &&
        !mo_solfmt_token_is(&rest, "Inf") &&
        !mo_solfmt_token_is(&rest, "Infinity"))
        return false;
    *value = negative ? -HUGE_VAL : HUGE_VAL;
    return true;
}

bool mo_solfmt_token_number(const mo_solfmt_token *word, double *value)
{
    /* Fast path: nearly all columns are 0 or 1. */
    if (word->length == 1 && *word->at >= '0' && *word->at <= '9') {
        *value = *word->at - '0';
        return true;
    }
    return mo_number_read_double(word->at, word->length, value) ==
               MO_NUMBER_OK ||
           read_infinity(word, value);
}

/* Long tokens are shown truncated. */
static int shown_length(const mo_solfmt_token *word)
{
    return word->length < 80 ? (int) word->length : 80;
}

mo_status mo_solfmt_parse_number(mo_solfmt_reader *r,
                                 const mo_solfmt_token *word, const char *whose,
                                 double *value, mo_error *err)
{
    if (mo_solfmt_token_number(word, value))
        return MO_OK;
    return mo_fail_at(err, MO_E_SYNTAX, r->file, r->line,
                      "%s: '%.*s' is not a number", whose, shown_length(word),
                      word->at);
}

mo_status mo_solfmt_next_number(mo_solfmt_reader *r, const char *whose,
                                double *value, mo_error *err)
{
    mo_solfmt_token word;

    if (!mo_solfmt_next_token(r, &word))
        return mo_fail_at(err, MO_E_SYNTAX, r->file, r->line,
                          "%s is missing; was the file cut off here?", whose);
    return mo_solfmt_parse_number(r, &word, whose, value, err);
}

mo_status mo_solfmt_add_value(mo_solfmt_reader *r, const mo_solfmt_token *name,
                              double value, mo_error *err)
{
    mo_solution *solution = r->solution;
    mo_solution_value *added;
    mo_status status;

    if (r->n >= r->max)
        return mo_fail_at(err, MO_E_LIMIT, r->file, r->line,
                          "more than %zu columns; MOIRAI_INPUT_MIB allows more",
                          r->max);
    status = MO_ARRAY_GROW(solution->values, r->n, r->room, err);
    if (status != MO_OK)
        return status;
    added = &solution->values[r->n++];
    added->name = name->length > 0 ? name->at : NULL;
    added->value = value;
    added->line = r->line;
    if (name->length > 0)
        name->at[name->length] = '\0';
    return MO_OK;
}

mo_status mo_solfmt_read_pair(mo_solfmt_reader *r, mo_error *err)
{
    mo_solfmt_token name, number;
    double value;

    mo_solfmt_next_token(r, &name);
    mo_solfmt_next_token(r, &number);
    if (!mo_solfmt_token_number(&number, &value)) {
        if (number.length == 0)
            return mo_fail_at(
                err, MO_E_SYNTAX, r->file, r->line,
                "column '%.*s' has no value; was the file cut off "
                "here?",
                shown_length(&name), name.at);
        return mo_fail_at(err, MO_E_SYNTAX, r->file, r->line,
                          "column '%.*s': '%.*s' is not a number",
                          shown_length(&name), name.at, shown_length(&number),
                          number.at);
    }
    return mo_solfmt_add_value(r, &name, value, err);
}

mo_status mo_solfmt_expect_end_of_line(mo_solfmt_reader *r, mo_error *err)
{
    mo_solfmt_token rest = mo_solfmt_rest_of_line(r);

    if (rest.length == 0)
        return MO_OK;
    return mo_fail_at(err, MO_E_SYNTAX, r->file, r->line,
                      "'%.*s' is too much for this line", shown_length(&rest),
                      rest.at);
}

mo_status mo_solfmt_read_column(mo_solfmt_reader *r, mo_error *err)
{
    mo_status status = mo_solfmt_read_pair(r, err);

    return status == MO_OK ? mo_solfmt_expect_end_of_line(r, err) : status;
}

mo_status mo_solfmt_fail_truncated(mo_solfmt_reader *r, const char *missing,
                                   mo_error *err)
{
    return mo_fail_at(err, MO_E_SYNTAX, r->file, r->line,
                      "the file stops here, but %s should follow: it was cut "
                      "off or is still being written",
                      missing);
}

mo_status mo_solfmt_fail_at(const mo_solfmt_reader *r, const char *where,
                            const char *text, mo_error *err)
{
    int line = 1;

    for (const char *at = r->begin; at < where; at++)
        line += *at == '\n' && line < INT_MAX;
    return mo_fail_at(err, MO_E_SYNTAX, r->file, line, "%s%s", text,
                      where == r->end ? "; the file stops here: was it cut off?"
                                      : "");
}

/* mo_json_unescape() makes it of a surrogate without its other half. */
static bool has_replacement(const char *text, size_t length)
{
    return memmem(text, length, "\xef\xbf\xbd", 3) != NULL;
}

mo_status mo_solfmt_json_string(const mo_solfmt_reader *r, const char *value,
                                size_t length, mo_solfmt_token *text,
                                mo_error *err)
{
    char *at = r->begin + (value - r->begin) + 1;
    bool replaced;

    if (*value != '"')
        return mo_solfmt_fail_at(r, value, "no string where one should be",
                                 err);
    replaced = has_replacement(at, length - 2);
    text->at = at;
    if (!mo_json_unescape(at, length - 2, at, &text->length) ||
        has_replacement(at, text->length) != replaced)
        return mo_solfmt_fail_at(r, value, "a broken escape in a string", err);
    return MO_OK;
}

void mo_solfmt_set_objective(mo_solfmt_reader *r, double value)
{
    r->solution->has_objective = true;
    r->solution->objective = value;
}

static bool denies_solution(mo_solution_status claim)
{
    return claim == MO_SOLUTION_STATUS_INFEASIBLE ||
           claim == MO_SOLUTION_STATUS_UNBOUNDED ||
           claim == MO_SOLUTION_STATUS_NO_SOLUTION;
}

void mo_solfmt_set_claim(mo_solfmt_reader *r, mo_solution_status claim)
{
    if (!denies_solution(r->solution->claim))
        r->solution->claim = claim;
}

int mo_solfmt_find_status(const mo_solfmt_token *name)
{
    for (int c = MO_SOLUTION_STATUS_UNKNOWN;
         c <= MO_SOLUTION_STATUS_OPTIMAL_AS_GIVEN; c++)
        if (mo_solfmt_token_is(name, mo_solution_status_names[c]))
            return c;
    return -1;
}

mo_solution_status mo_solution_status_at_limit(bool has_solution)
{
    return has_solution ? MO_SOLUTION_STATUS_FEASIBLE
                        : MO_SOLUTION_STATUS_NO_SOLUTION;
}
