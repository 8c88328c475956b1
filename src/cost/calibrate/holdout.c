/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/calibrate/holdout.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_NAME = 64 };

/* Marks the device named by the length bytes at name. */
static mo_status mark_device(const mo_samples *samples, const char *name,
                             size_t length, mo_holdout_set which,
                             mo_holdout_set *of_device, mo_error *err)
{
    char text[MAX_NAME] = "";
    const mo_device_model *model = NULL;
    int device;

    if (length < sizeof text) {
        memcpy(text, name, length);
        model = mo_device_find(text);
    }
    if (!model)
        return mo_fail(err, MO_E_USAGE,
                       "'%.*s' is no device model we know; moirai-cluster(5) "
                       "lists them",
                       (int) (length < MAX_NAME ? length : MAX_NAME), name);
    device = mo_samples_device(samples, model);
    if (device < 0)
        return mo_fail(err, MO_E_INPUT,
                       "no times measured on '%s'; name devices that the files "
                       "have times of",
                       model->name);
    if (of_device[device] != MO_HOLDOUT_NEITHER && of_device[device] != which)
        return mo_fail(err, MO_E_USAGE,
                       "'%s' is in --train and in --test; it can only be in "
                       "one of them",
                       model->name);
    of_device[device] = which;
    return MO_OK;
}

static mo_status mark_list(const mo_samples *samples, const char *list,
                           mo_holdout_set which, mo_holdout_set *of_device,
                           mo_error *err)
{
    while (list) {
        size_t length = strcspn(list, ",");
        mo_status status =
            mark_device(samples, list, length, which, of_device, err);

        if (status != MO_OK)
            return status;
        list = list[length] ? list + length + 1 : NULL;
    }
    return MO_OK;
}

static mo_status choose_devices(const mo_samples *samples, const char *train,
                                const char *test, mo_holdout_set *of_device,
                                mo_error *err)
{
    mo_holdout_set rest = !train  ? MO_HOLDOUT_TRAIN
                          : !test ? MO_HOLDOUT_TEST
                                  : MO_HOLDOUT_NEITHER;
    mo_status status =
        mark_list(samples, train, MO_HOLDOUT_TRAIN, of_device, err);

    if (status == MO_OK)
        status = mark_list(samples, test, MO_HOLDOUT_TEST, of_device, err);
    for (size_t i = 0; i < samples->n_devices; i++)
        if (of_device[i] == MO_HOLDOUT_NEITHER)
            of_device[i] = rest;
    return status;
}

mo_status mo_holdout_split(const mo_samples *samples, const char *train,
                           const char *test, mo_holdout_set *part,
                           mo_error *err)
{
    mo_status status = MO_OK;
    size_t n[] = {
        [MO_HOLDOUT_NEITHER] = 0, [MO_HOLDOUT_TRAIN] = 0, [MO_HOLDOUT_TEST] = 0
    };

    if (train || test) {
        mo_holdout_set *of_device =
            calloc(samples->n_devices + 1, sizeof *of_device);

        status = of_device
                     ? choose_devices(samples, train, test, of_device, err)
                     : mo_fail_memory(err);
        for (size_t i = 0; i < samples->n && status == MO_OK; i++)
            part[i] = of_device[samples->items[i].device];
        free(of_device);
    } else
        for (size_t i = 0; i < samples->n; i++)
            part[i] = samples->items[i].key % MO_HOLDOUT_ONE_IN == 0
                          ? MO_HOLDOUT_TEST
                          : MO_HOLDOUT_TRAIN;
    if (status != MO_OK)
        return status;
    for (size_t j = 0; j < samples->n; j++)
        n[part[j]]++;
    if (n[MO_HOLDOUT_TRAIN] == 0 || n[MO_HOLDOUT_TEST] == 0)
        return mo_fail(err, MO_E_INPUT,
                       "of %zu rows none is left to %s; give more files, or "
                       "choose devices with --train and --test",
                       samples->n,
                       n[MO_HOLDOUT_TRAIN] == 0 ? "fit to" : "test on");
    return MO_OK;
}
