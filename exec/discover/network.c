/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/utf8.h"
#include "exec/discover/discover_internal.h"

enum { PATH_SIZE = 1024 };

static const double fastest_gbps = 1e5;

/* The number that a file begins with, or 0. */
static double number_in(const char *path)
{
    FILE *file = fopen(path, "re");
    char line[64] = "";
    double number;

    if (!file)
        return 0;
    if (!fgets(line, sizeof line, file))
        line[0] = '\0';
    fclose(file);
    number = strtod(line, NULL);
    return number > 0 && number < 1e9 ? number : 0;
}

/* Of two that are alike the first by name: folders have no order. */
static void keep_faster(mo_discover_inventory *survey, const char *name,
                        double gbps)
{
    char shown[MO_DISCOVER_TEXT_SIZE];

    mo_utf8_escape_controls(shown, sizeof shown, name);
    if (gbps <= 0 || gbps > fastest_gbps || gbps < survey->network_gbps ||
        (gbps == survey->network_gbps && strcmp(shown, survey->network) > 0))
        return;
    survey->network_gbps = gbps;
    memcpy(survey->network, shown, sizeof shown);
}

/* "200 Gb/sec (4X HDR)" */
static void look_at_infiniband(mo_discover_inventory *survey, const char *card)
{
    char path[PATH_SIZE];

    snprintf(path, sizeof path, "/sys/class/infiniband/%s/ports/1/rate", card);
    keep_faster(survey, card, number_in(path));
}

/* Of cards that are real ones, in megabits; -1 where there is no cable. */
static void look_at_ethernet(mo_discover_inventory *survey, const char *card)
{
    char path[PATH_SIZE];
    struct stat is;

    snprintf(path, sizeof path, "/sys/class/net/%s/device", card);
    if (stat(path, &is) != 0)
        return;
    snprintf(path, sizeof path, "/sys/class/net/%s/speed", card);
    keep_faster(survey, card, number_in(path) / 1000);
}

static void look_at_all(mo_discover_inventory *survey, const char *folder,
                        void (*look)(mo_discover_inventory *survey,
                                     const char *card))
{
    DIR *cards = opendir(folder);

    for (struct dirent *d; cards && (d = readdir(cards)) != NULL;)
        if (d->d_name[0] != '.')
            look(survey, d->d_name);
    if (cards)
        closedir(cards);
}

void mo_discover_network(mo_discover_inventory *survey)
{
    look_at_all(survey, "/sys/class/infiniband", look_at_infiniband);
    look_at_all(survey, "/sys/class/net", look_at_ethernet);
}
