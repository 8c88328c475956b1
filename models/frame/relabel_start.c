/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "models/frame/frame_internal.h"

struct names {
    int *of;   /* by device of the start: its new name, or MO_FREE */
    int *next; /* by device: the next larger one equal to it, or MO_FREE */
    int *give; /* by the first device of a class: the next name to give */
};

static int class_of(const mo_frame *f, int device)
{
    while (f->twin[device] != MO_FREE)
        device = f->twin[device];
    return device;
}

/* In each class names go by first use. */
static void give_names(const mo_frame *f, struct names *names)
{
    for (int k = 0; k < f->x->n_devices; k++) {
        names->of[k] = names->next[k] = MO_FREE;
        names->give[k] = k;
        if (f->twin[k] != MO_FREE)
            names->next[f->twin[k]] = k;
    }
    for (int i = 0; i < f->x->n; i++) {
        int device = f->start->device[i], class;
        if (names->of[device] != MO_FREE)
            continue;
        class = class_of(f, device);
        names->of[device] = names->give[class];
        names->give[class] = names->next[names->give[class]];
    }
}

static int compare_transfers(const void *a, const void *b)
{
    const mo_transfer *x = a, *y = b;

    if (x->item != y->item)
        return x->item < y->item ? -1 : 1;
    return (x->to > y->to) - (x->to < y->to);
}

/* Equal devices take equal times: nothing but names changes. */
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

    if (names.of && names.next && names.give) {
        give_names(f, &names);
        rename_devices(f->start, &names);
    } else {
        status = mo_fail_memory(err);
    }
    free(names.give);
    free(names.next);
    free(names.of);
    return status;
}
