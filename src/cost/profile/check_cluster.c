/* SPDX-License-Identifier: Apache-2.0 */
/* Check that a profile and a cluster have a device in common. */
#include "cost/profile.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Names of each that a message lists. */
enum { MAX_NAMES = 6, NAMES_SIZE = 384 };

static bool is_in(const mo_cluster *cluster, const char *device)
{
    const mo_device_model *known = mo_device_find(device);

    for (int k = 0; k < cluster->n_devices; k++) {
        const mo_device *d = &cluster->devices[k];

        if (strcmp(d->id, device) == 0 || (known && d->known == known) ||
            (d->model && strcmp(d->model, device) == 0))
            return true;
    }
    return false;
}

/* Rows of one device are contiguous, so only its first is tested. */
static bool shares_a_device(const mo_profile *profile,
                            const mo_cluster *cluster)
{
    for (int i = 0; i < profile->n_ops; i++)
        if ((i == 0 ||
             strcmp(profile->ops[i].device, profile->ops[i - 1].device) != 0) &&
            is_in(cluster, profile->ops[i].device))
            return true;
    for (int i = 0; i < profile->n_rates; i++)
        if (is_in(cluster, profile->rates[i].device))
            return true;
    for (int i = 0; i < profile->n_links; i++) {
        const mo_profile_link *link = &profile->links[i];

        if (i > 0 && strcmp(link->from, link[-1].from) == 0 &&
            strcmp(link->to, link[-1].to) == 0)
            continue;
        if (is_in(cluster, link->from) && is_in(cluster, link->to))
            return true;
    }
    return false;
}

typedef struct names {
    char text[NAMES_SIZE];
    size_t length;
    int n;
} names;

static void add_name(names *list, const char *name)
{
    if (++list->n <= MAX_NAMES)
        list->length += (size_t) snprintf(list->text + list->length,
                                          NAMES_SIZE - list->length, "%s%.40s",
                                          list->n > 1 ? ", " : "", name);
}

static const char *finish(names *list)
{
    if (list->n > MAX_NAMES)
        snprintf(list->text + list->length, NAMES_SIZE - list->length,
                 " and %d more", list->n - MAX_NAMES);
    return list->text;
}

mo_status mo_profile_check_cluster(const mo_profile *profile,
                                   const mo_cluster *cluster, mo_error *err)
{
    names measured = { .n = 0 }, present = { .n = 0 };
    const char *last = NULL;

    if (shares_a_device(profile, cluster))
        return MO_OK;
    for (int i = 0; i < profile->n_ops; i++) {
        if (!last || strcmp(last, profile->ops[i].device) != 0)
            add_name(&measured, profile->ops[i].device);
        last = profile->ops[i].device;
    }
    for (int i = 0; i < profile->n_links && profile->n_ops == 0; i++) {
        if (!last || strcmp(last, profile->links[i].from) != 0)
            add_name(&measured, profile->links[i].from);
        last = profile->links[i].from;
    }
    for (int i = 0; i < profile->n_rates && measured.n == 0; i++)
        add_name(&measured, profile->rates[i].device);
    for (int k = 0; k < cluster->n_devices; k++) {
        const mo_device *d = &cluster->devices[k];
        char name[96];

        snprintf(name, sizeof name, "%.20s%s%.16s%s", d->id,
                 d->model ? " (" : "", d->model ? d->model : "",
                 d->model ? ")" : "");
        add_name(&present, name);
    }
    return mo_fail_at(err, MO_E_INPUT, profile->file, 0,
                      "a profile of another machine: it is of %s%s%.40s, and "
                      "the cluster is %s; profile these, or give their cluster",
                      finish(&measured), profile->host ? " on " : "",
                      profile->host ? profile->host : "", finish(&present));
}
