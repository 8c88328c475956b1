/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of hosts as Slurm writes them. */
#include <config.h>

#include <string.h>

#include "exec/transport/rendezvous/launch.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool append(char host[MO_RDV_HOST_SIZE], size_t *length,
                   const char *text, size_t n)
{
    if (n >= MO_RDV_HOST_SIZE - *length)
        return false;
    memcpy(host + *length, text, n);
    *length += n;
    host[*length] = '\0';
    return true;
}

/* Behind "[": the first number, and where the "]" is. */
static const char *first_of_range(const char *at, size_t *digits)
{
    const char *end = at;

    *digits = 0;
    while (is_digit(at[*digits]))
        ++*digits;
    while (is_digit(*end) || *end == '-' || *end == ',')
        end++;
    return *digits > 0 && *end == ']' ? end : NULL;
}

bool mo_rdv_hostlist_first(const char *list, char host[MO_RDV_HOST_SIZE])
{
    size_t length = 0;

    host[0] = '\0';
    for (const char *at = list; *at && *at != ','; at++) {
        const char *end;
        size_t digits;

        if (*at != '[') {
            if (strchr(" \t]:/@", *at) || !append(host, &length, at, 1))
                return false;
            continue;
        }
        end = first_of_range(at + 1, &digits);
        if (!end || !append(host, &length, at + 1, digits))
            return false;
        at = end;
    }
    return length > 0;
}
