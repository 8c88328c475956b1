/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/json.h"
#include "ingest/work/flops.h"

/*
 * "bij,bjk->bik" does as many steps as its labels have combinations, here
 * b * i * j * k, and in each one multiplication per further operand and, when a
 * label is summed away, an addition.  "..." stands for the dimensions that no
 * letter names; they broadcast.
 */
typedef struct labels {
    int64_t letter[128];            /* -1: not seen */
    int64_t broadcast[MO_MAX_RANK]; /* of "...", from its end */
    int n_broadcast;
} labels;

static bool is_label(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool set_label(labels *seen, char c, int64_t size)
{
    int64_t *known = &seen->letter[(unsigned char) c];

    if (*known > 1 && size > 1 && *known != size)
        return false;
    if (size > *known)
        *known = size;
    return true;
}

static int count_letters(const char *term, size_t length)
{
    int letters = 0;

    for (size_t i = 0; i < length; i++)
        letters += is_label(term[i]);
    return letters;
}

/* Notes the n dims that "..." covers, the last of them at dims[last]. */
static void set_broadcast(labels *seen, const mo_shape *shape, int last, int n)
{
    for (int i = 0; i < n; i++)
        if (shape->dims[last - i] > seen->broadcast[i])
            seen->broadcast[i] = shape->dims[last - i];
    if (n > seen->n_broadcast)
        seen->n_broadcast = n;
}

/* Matches one operand's term against its shape. */
static bool read_term(labels *seen, const char *term, size_t length,
                      const mo_shape *shape)
{
    int covered = shape->rank - count_letters(term, length);
    int dim = 0;

    if (covered < 0)
        return false;
    for (size_t i = 0; i < length; i++) {
        if (is_label(term[i])) {
            if (!set_label(seen, term[i], shape->dims[dim++]))
                return false;
        } else if (length - i >= 3 && memcmp(term + i, "...", 3) == 0) {
            set_broadcast(seen, shape, dim + covered - 1, covered);
            dim += covered;
            covered = 0;
            i += 2;
        } else if (term[i] != ' ') {
            return false;
        }
    }
    return dim == shape->rank;
}

static double combinations(const labels *seen)
{
    double product = 1;

    for (int c = 0; c < 128; c++)
        if (seen->letter[c] >= 0)
            product *= (double) seen->letter[c];
    for (int i = 0; i < seen->n_broadcast; i++)
        product *= (double) seen->broadcast[i];
    return product;
}

/* Is there a label that the output (behind "->") does not have? */
static bool sums_a_label(const labels *seen, const char *output, size_t length)
{
    for (int c = 0; c < 128; c++)
        if (seen->letter[c] > 1 && !memchr(output, c, length))
            return true;
    return false;
}

/* Matches the operands' terms, [at, end), with the inputs' shapes; returns how
 * many there are, or -1. */
static int read_operands(labels *seen, const char *at, const char *end,
                         const mo_work_input *in)
{
    int operands = 0;

    while (at <= end) {
        const char *stop = memchr(at, ',', (size_t) (end - at));

        stop = stop ? stop : end;
        if (operands == in->n_inputs || in->inputs[operands].rank < 0 ||
            !read_term(seen, at, (size_t) (stop - at), &in->inputs[operands]))
            return -1;
        operands++;
        at = stop + 1;
    }
    return operands;
}

static const char *find_arrow(const char *at, const char *end)
{
    for (; at + 1 < end; at++)
        if (at[0] == '-' && at[1] == '>')
            return at;
    return NULL;
}

double mo_flops_einsum(const mo_work_input *in)
{
    labels seen = { .n_broadcast = 0 };
    const char *at = NULL, *end, *arrow;
    size_t length = 0;
    int operands;

    memset(seen.letter, -1, sizeof seen.letter);
    if (in->attrs)
        at = mo_json_find(in->attrs, "equation", &length);
    if (!at || length < 2 || at[0] != '"')
        return -1;
    end = at + length - 1;
    arrow = find_arrow(++at, end);
    operands = arrow ? read_operands(&seen, at, arrow, in) : -1;
    if (operands < 0)
        return -1;
    return combinations(&seen) *
           (operands - 1 +
            sums_a_label(&seen, arrow + 2, (size_t) (end - arrow - 2)));
}
