/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/plugins/log_line.h"

#include <math.h>
#include <string.h>

#include "base/number.h"

static const double none = 1e20;

int mo_solver_log_tokenize(const char *line, const char *separators,
                           mo_solver_log_token *words)
{
    int n = 0;

    for (;;) {
        line += strspn(line, separators);
        if (!*line || n == MO_SOLVER_LOG_MAX_TOKENS)
            return n;
        words[n].text = line;
        words[n].length = strcspn(line, separators);
        line += words[n++].length;
    }
}

bool mo_solver_log_number(const mo_solver_log_token *word, const char *ending,
                          double *value)
{
    size_t length = word->length, cut = strlen(ending);

    if (cut > 0) {
        if (length <= cut ||
            memcmp(word->text + length - cut, ending, cut) != 0)
            return false;
        length -= cut;
    }
    return mo_number_read_double(word->text, length, value) == MO_NUMBER_OK &&
           fabs(*value) < none;
}

bool mo_solver_log_ends_with(const mo_solver_log_token *word, char last)
{
    return word->length > 0 && word->text[word->length - 1] == last;
}

bool mo_solver_log_number_after(const char *line, const char *key,
                                double *value)
{
    const char *at = strstr(line, key);
    mo_solver_log_token words[MO_SOLVER_LOG_MAX_TOKENS];

    return at &&
           mo_solver_log_tokenize(at + strlen(key), " \t:,()", words) > 0 &&
           mo_solver_log_number(&words[0], "", value);
}

bool mo_solver_log_number_after_prefix(const char *line, const char *key,
                                       double *value)
{
    return strncmp(line, key, strlen(key)) == 0 &&
           mo_solver_log_number_after(line, key, value);
}

void mo_solver_log_set_bound(mo_solver_progress *step, double bound, int digits)
{
    step->has_bound = true;
    step->bound = bound - fabs(bound) * 0.5 * pow(10, 1 - digits);
}

void mo_solver_log_set_incumbent(mo_solver_progress *step, double incumbent)
{
    step->has_incumbent = true;
    step->incumbent = incumbent;
}

void mo_solver_log_set_status(mo_solver_progress *step,
                              mo_solution_status claim)
{
    step->has_claim = true;
    step->claim = claim;
}

void mo_solver_log_set_row(mo_solver_progress *step,
                           const mo_solver_log_token *incumbent,
                           const mo_solver_log_token *bound, int digits)
{
    double value;

    if (mo_solver_log_number(incumbent, "", &value))
        mo_solver_log_set_incumbent(step, value);
    if (mo_solver_log_number(bound, "", &value))
        mo_solver_log_set_bound(step, value, digits);
}
