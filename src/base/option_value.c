/* SPDX-License-Identifier: Apache-2.0 */
/* option_value.c - one row of an option table: its names, and its value checked
 * and stored. */
#include "base/option.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/number.h"

bool mo_option_has_name(const mo_option *option, const char *name,
                        size_t length)
{
    return (strlen(option->name) == length &&
            memcmp(option->name, name, length) == 0) ||
           (option->former && strlen(option->former) == length &&
            memcmp(option->former, name, length) == 0);
}

bool mo_option_takes_value(const mo_option *option)
{
    return option->kind != MO_OPTION_FLAG && option->kind != MO_OPTION_COUNT;
}

bool mo_option_takes_file(const mo_option *option)
{
    return mo_option_takes_value(option) && strstr(option->value, "FILE");
}

bool mo_option_takes_folder(const mo_option *option)
{
    return mo_option_takes_value(option) && strstr(option->value, "DIR");
}

bool mo_option_takes_list(const mo_option *option)
{
    return mo_option_takes_value(option) && strstr(option->value, ",...");
}

/* "an integer from 1 to 64", "a number of at least 0" */
static const char *describe_range(const mo_option *option, char *text,
                                  size_t size)
{
    const char *noun =
        option->kind == MO_OPTION_INT ? "an integer" : "a number";
    char min[MO_NUMBER_SIZE] = "", max[MO_NUMBER_SIZE] = "";

    if (isfinite(option->min))
        min[mo_number_write_double(min, option->min)] = '\0';
    if (isfinite(option->max))
        max[mo_number_write_double(max, option->max)] = '\0';

    if ((option->min == 0 && option->max == 0) || (!*min && !*max))
        snprintf(text, size, "%s", noun);
    else if (!*max)
        snprintf(text, size, "%s of at least %s", noun, min);
    else if (!*min)
        snprintf(text, size, "%s of at most %s", noun, max);
    else
        snprintf(text, size, "%s from %s to %s", noun, min, max);
    return text;
}

static mo_status refuse_number(const mo_option *option, const char *value,
                               mo_error *err)
{
    char range[128];

    return mo_fail(err, MO_E_USAGE, "option '--%s' takes %s, not '%s'",
                   option->name, describe_range(option, range, sizeof range),
                   value);
}

static bool in_range(const mo_option *option, double value)
{
    return (option->min == 0 && option->max == 0) ||
           (value >= option->min && value <= option->max);
}

static mo_status store_int(const mo_option *option, const char *value,
                           mo_error *err)
{
    int64_t number;

    assert(value);
    if (mo_number_read_int(value, strlen(value), &number) != MO_NUMBER_OK ||
        !in_range(option, (double) number))
        return refuse_number(option, value, err);
    *(int64_t *) option->to = number;
    return MO_OK;
}

static mo_status store_double(const mo_option *option, const char *value,
                              mo_error *err)
{
    double number;

    assert(value);
    if (mo_number_read_double(value, strlen(value), &number) != MO_NUMBER_OK ||
        !in_range(option, number))
        return refuse_number(option, value, err);
    *(double *) option->to = number;
    return MO_OK;
}

/* Sets *item to prefix and value, a text that the list owns. */
static mo_status make_item(mo_option_list *list, const char *prefix,
                           const char *value, const char **item, mo_error *err)
{
    size_t size = strlen(prefix) + strlen(value) + 1;
    mo_status status =
        MO_ARRAY_GROW(list->made, list->n_made, list->made_room, err);
    char *text = status == MO_OK ? malloc(size) : NULL;

    if (!text)
        return status != MO_OK ? status : mo_fail_memory(err);
    snprintf(text, size, "%s%s", prefix, value);
    list->made[list->n_made++] = text;
    *item = text;
    return MO_OK;
}

static mo_status store_item(const mo_option *option, const char *value,
                            mo_error *err)
{
    mo_option_list *list = option->to;
    mo_status status = MO_ARRAY_GROW(list->items, list->count, list->room, err);

    if (status == MO_OK && option->prefix)
        status = make_item(list, option->prefix, value, &value, err);
    if (status == MO_OK)
        list->items[list->count++] = value;
    return status;
}

/* Returns whether value is one of "lp|mps". */
static bool is_choice(const char *choices, const char *value)
{
    size_t length;

    assert(value);
    length = strlen(value);
    for (;;) {
        size_t n = strcspn(choices, "|");

        if (n == length && memcmp(choices, value, n) == 0)
            return true;
        if (choices[n] == '\0')
            return false;
        choices += n + 1;
    }
}

static mo_status check_value(const mo_option *option, const char *value,
                             mo_error *err)
{
    if (option->choices && !is_choice(option->choices, value))
        return mo_fail(err, MO_E_USAGE,
                       "option '--%s' takes one of %s, not '%s'", option->name,
                       option->choices, value);
    if (value && !*value && mo_option_takes_file(option))
        return mo_fail(err, MO_E_USAGE,
                       "option '--%s' needs the name of a file, not ''",
                       option->name);
    return MO_OK;
}

mo_status mo_option_store(const mo_option *option, const char *value,
                          mo_error *err)
{
    mo_status status = check_value(option, value, err);

    if (status != MO_OK || !option->to)
        return status;
    switch (option->kind) {
    case MO_OPTION_FLAG:
        if (option->prefix)
            return store_item(option, "", err);
        *(bool *) option->to = true;
        return MO_OK;
    case MO_OPTION_COUNT:
        ++*(int *) option->to;
        return MO_OK;
    case MO_OPTION_TEXT:
        *(const char **) option->to = value;
        return MO_OK;
    case MO_OPTION_INT:
        return store_int(option, value, err);
    case MO_OPTION_DOUBLE:
        return store_double(option, value, err);
    case MO_OPTION_LIST:
        return store_item(option, value, err);
    }
    assert(!"a kind of option");
    return MO_E_USAGE;
}

void mo_option_list_free(mo_option_list *list)
{
    for (size_t i = 0; i < list->n_made; i++)
        free(list->made[i]);
    free(list->made);
    free(list->items);
    *list = (mo_option_list){ 0 };
}
