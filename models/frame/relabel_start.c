/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "models/frame/frame_internal.h"

struct names {
    int *of;   /* by device of the start: its new name, or MO_FREE */
    int *next; /* by device: the next larger one equal to it, or MO_FREE */
    int *
        next_name; /* by the first device of a class: the next name to assign */
};

static int class_of(const mo_frame *f, int device)
{
    while (f->symmetric_to[device] != MO_FREE)
        device = f->symmetric_to[device];
    return device;
}

/* In each class names are assigned by first use. */
static void assign_names(const mo_frame *f, struct names *names)
{
    for (int k = 0; k < f->x->n_devices; k++) {
        names->of[k] = names->next[k] = MO_FREE;
        names->next_name[k] = k;
        if (f->symmetric_to[k] != MO_FREE)
            names->next[f->symmetric_to[k]] = k;
    }
    for (int i = 0; i < f->x->n; i++) {
        int device = f->start->device[i], class;
        if (names->of[device] != MO_FREE)
            continue;
        class = class_of(f, device);
        names->of[device] = names->next_name[class];
        names->next_name[class] = names->next[names->next_name[class]];
    }
}

static int compare_transfers(const void *a, const void *b)
{
    const mo_transfer *x = a, *y = b;

    if (x->item != y->item)
        return x->item < y->item ? -1 : 1;
    return (x->to > y->to) - (x->to < y->to);
}

/* Interchangeable devices have equal times: only names change. */
static void rename_devices(mo_schedule *s, const struct names *names)
{
    for (int i = 0; i < s->n; i++)
        s->device[i] = names->of[s->device[i]];
    for (int t = 0; t < s->n_transfers; t++) {
        s->transfers[t].from = names->of[s->transfers[t].from];
        s->transfers[t].to = names->of[s->transfers[t].to];
    }
    if (s->n_transfers > 0)
        qsort(s->transfers, (size_t) s->n_transfers, sizeof *s->transfers,
              compare_transfers);
}

mo_status mo_frame_relabel_start(mo_frame *f, mo_error *err)
{
    size_t n = (size_t) f->x->n_devices + 1;
    struct names names = { calloc(n, sizeof(int)), calloc(n, sizeof(int)),
                           calloc(n, sizeof(int)) };
    mo_status status = MO_OK;

    if (names.of && names.next && names.next_name) {
        assign_names(f, &names);
        rename_devices(f->start, &names);
    } else {
        status = mo_fail_memory(err);
    }
    free(names.next_name);
    free(names.next);
    free(names.of);
    return status;
}
