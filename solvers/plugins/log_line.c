#include "solvers/plugins/log_line.h"

#include <math.h>
#include <string.h>

#include "base/number.h"

static const double none = 1e20;

int mo_log_cut(const char *line, const char *separators, mo_log_word *words)
{
    int n = 0;

    for (;;) {
        line += strspn(line, separators);
        if (!*line || n == MO_LOG_WORDS)
            return n;
        words[n].text = line;
        words[n].length = strcspn(line, separators);
        line += words[n++].length;
    }
}

bool mo_log_number(const mo_log_word *word, const char *ending, double *value)
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

bool mo_log_ends(const mo_log_word *word, char last)
{
    return word->length > 0 && word->text[word->length - 1] == last;
}

bool mo_log_after(const char *line, const char *key, double *value)
{
    const char *at = strstr(line, key);
    mo_log_word words[MO_LOG_WORDS];

    return at && mo_log_cut(at + strlen(key), " \t:,()", words) > 0 &&
           mo_log_number(&words[0], "", value);
}

bool mo_log_behind(const char *line, const char *key, double *value)
{
    return strncmp(line, key, strlen(key)) == 0 &&
           mo_log_after(line, key, value);
}

void mo_log_bound(mo_step *step, double bound, int digits)
{
    step->has_bound = true;
    step->bound = bound - fabs(bound) * 0.5 * pow(10, 1 - digits);
}

void mo_log_incumbent(mo_step *step, double incumbent)
{
    step->has_incumbent = true;
    step->incumbent = incumbent;
}

void mo_log_claim(mo_step *step, mo_claim claim)
{
    step->has_claim = true;
    step->claim = claim;
}

void mo_log_row(mo_step *step, const mo_log_word *incumbent,
                const mo_log_word *bound, int digits)
{
    double value;

    if (mo_log_number(incumbent, "", &value))
        mo_log_incumbent(step, value);
    if (mo_log_number(bound, "", &value))
        mo_log_bound(step, value, digits);
}
