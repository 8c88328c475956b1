/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/decomp/compose.h"

#include <assert.h>
#include <stdlib.h>

#include "base/minmax.h"

/* Up to this size every segment of a schedule is a variant of its class, where
 * variants are kept; else the shortest ones. */
enum { ALL_VARIANTS_MAX_OPS = 20000 };

/*
 * The ops of a segment are consecutive in the whole instance and in the
 * sub-instance of its class, and so are their flows: an index in the one is an
 * index in the other plus the first of the segment. Only tensors may be
 * numbered with gaps; they are looked up by their flows.
 */

static const mo_decomp_class *class_of(const mo_decomp_classes *classes,
                                       int segment)
{
    return &classes->classes[classes->segments->cls[segment]];
}

int mo_decomp_whole_item(const mo_decomp_classes *classes, int segment,
                         int item)
{
    const mo_instance *x = classes->x,
                      *part = class_of(classes, segment)->part->x;
    int first_flow =
        x->out_start[mo_decomp_segment_first_op(classes->segments, segment)];

    if (classes->regime.tensors == MO_TENSORS_PER_EDGE)
        return first_flow + item;
    return x->flows[first_flow + part->tensor_start[item]].tensor;
}

/* What a composed schedule is made of. */
typedef struct composition {
    const mo_decomp_classes *classes;
    const mo_decomp_path *path;
    const unsigned char
        *variants; /* by segment; NULL: the best schedule of each */
} composition;

static const mo_schedule *schedule_of(const composition *c, int segment)
{
    const mo_decomp_boundary *boundary =
        &class_of(c->classes, segment)
             ->boundaries[mo_decomp_path_boundary(c->path, segment)];

    return c->variants ? boundary->variants[c->variants[segment]].schedule
                       : boundary->best;
}

static void place_segment(const composition *c, int segment, int *device)
{
    const mo_decomp_classes *classes = c->classes;
    const mo_decomp_segments *p = classes->segments;
    const mo_decomp_class *cls = class_of(classes, segment);
    int boundary = mo_decomp_path_boundary(c->path, segment),
        first = mo_decomp_segment_first_op(p, segment);

    if (cls->part) {
        const mo_schedule *s = schedule_of(c, segment);

        for (int i = 0; i < cls->n; i++)
            device[first + i] = s->device[i];
    } else if (mo_decomp_segment_exit(p, segment) != MO_FREE) {
        device[mo_decomp_segment_exit(p, segment)] =
            classes->states->device[boundary % classes->states->n];
    }
}

static void set_start(mo_transfer *t, int64_t start_ns)
{
    t->end_ns += start_ns - t->start_ns;
    t->start_ns = start_ns;
}

/* Sets starts of the segment's ops and of its transfers, which begin at
 * transfers[*t]; advances *t past them. */
static void set_segment_times(const mo_decomp_classes *classes, int segment,
                              const mo_schedule *from, int64_t begin_ns,
                              mo_schedule *s, int *t)
{
    const mo_decomp_class *cls = class_of(classes, segment);
    int first = mo_decomp_segment_first_op(classes->segments, segment);

    for (int i = cls->u == MO_FREE ? 0 : 1; i < cls->n; i++)
        s->start_ns[first + i] = begin_ns + from->start_ns[i];
    for (int j = 0; j < from->n_transfers; j++) {
        const mo_transfer *its = &from->transfers[j];
        mo_transfer *ours = &s->transfers[(*t)++];

        assert(ours->item ==
                   mo_decomp_whole_item(classes, segment, its->item) &&
               ours->to == its->to);
        set_start(ours, begin_ns + its->start_ns);
    }
}

/* The same for a segment without ops between u and v. */
static void set_direct_times(const mo_decomp_classes *classes, int segment,
                             int64_t begin_ns, mo_schedule *s, int *t)
{
    int u = mo_decomp_segment_entry(classes->segments, segment);
    int v = mo_decomp_segment_exit(classes->segments, segment);
    int64_t arrived_ns = begin_ns;

    if (v == MO_FREE)
        return;
    if (u != MO_FREE && s->device[u] != s->device[v]) {
        bool queues = mo_decomp_direct_transfers_serialize(
            classes->x, &classes->regime, s->device[u], s->device[v]);
        int n = classes->x->out_start[u + 1] - classes->x->out_start[u];

        for (int j = 0; j < n; j++) {
            mo_transfer *ours = &s->transfers[(*t)++];

            set_start(ours, queues ? arrived_ns : begin_ns);
            arrived_ns = mo_max_i64(ours->end_ns, arrived_ns);
        }
    }
    s->start_ns[v] = arrived_ns;
}

static int64_t op_end_ns(const mo_instance *x, const mo_schedule *s, int op)
{
    return s->start_ns[op] + mo_instance_p_ns(x, op, s->device[op]);
}

/* Sets the makespan. Under live memory nothing is left-shifted: a later start
 * may be what makes the schedule fit. */
static mo_status set_makespan(const mo_instance *x, mo_schedule *s,
                              mo_error *err)
{
    if (s->regime.memory != MO_MEMORY_LIVE)
        return mo_schedule_left_shift(x, s, err);
    s->makespan_ns = 0;
    for (int i = 0; i < s->n; i++)
        if (op_end_ns(x, s, i) > s->makespan_ns)
            s->makespan_ns = op_end_ns(x, s, i);
    return MO_OK;
}

mo_status mo_decomp_compose(const mo_decomp_classes *classes,
                            const mo_decomp_path *path,
                            const unsigned char *variants,
                            mo_schedule **schedule, mo_error *err)
{
    const composition c = { classes, path, variants };
    int *device = malloc(((size_t) classes->x->n + 1) * sizeof *device);
    mo_schedule *s = NULL;
    mo_status status;
    const mo_decomp_segments *p;
    int t;

    if (!device)
        return mo_fail_memory(err);
    for (int i = 0; i < classes->segments->n; i++)
        place_segment(&c, i, device);
    status = mo_schedule_new(classes->x, &classes->regime, device, &s, err);
    free(device);
    if (status != MO_OK)
        return status;
    p = c.classes->segments;
    t = 0;
    for (int i = 0; i < p->n; i++) {
        int u = mo_decomp_segment_entry(p, i);
        int64_t begin_ns = u == MO_FREE ? 0 : op_end_ns(c.classes->x, s, u);

        if (class_of(c.classes, i)->part)
            set_segment_times(c.classes, i, schedule_of(&c, i), begin_ns, s,
                              &t);
        else
            set_direct_times(c.classes, i, begin_ns, s, &t);
    }
    assert(t == s->n_transfers);
    status = set_makespan(classes->x, s, err);
    if (status == MO_OK)
        *schedule = s;
    else
        mo_schedule_free(s);
    return status;
}

int mo_decomp_boundary_of(const mo_decomp_classes *classes,
                          const mo_schedule *s, int segment)
{
    int u = mo_decomp_segment_entry(classes->segments, segment);
    int v = mo_decomp_segment_exit(classes->segments, segment);
    int a = u == MO_FREE ? 0 : classes->states->state_of[s->device[u]];
    int b = v == MO_FREE ? 0 : classes->states->state_of[s->device[v]];

    return a < 0 || b < 0 ? -1 : a * classes->states->n + b;
}

static void copy_segment_times(const mo_decomp_classes *classes, int segment,
                               const mo_schedule *s, int64_t begin_ns,
                               mo_schedule *to)
{
    const mo_decomp_class *cls = class_of(classes, segment);
    int first = mo_decomp_segment_first_op(classes->segments, segment);

    for (int i = cls->u == MO_FREE ? 0 : 1; i < cls->n; i++)
        to->start_ns[i] = s->start_ns[first + i] - begin_ns;
    for (int t = 0; t < to->n_transfers; t++) {
        mo_transfer *ours = &to->transfers[t];

        set_start(
            ours,
            mo_schedule_transfer(
                s, mo_decomp_whole_item(classes, segment, ours->item), ours->to)
                    ->start_ns -
                begin_ns);
    }
}

static mo_status keep_segment(mo_decomp_classes *classes, int segment,
                              const mo_schedule *s, int64_t begin_ns,
                              int boundary, mo_error *err)
{
    mo_decomp_class *cls = &classes->classes[classes->segments->cls[segment]];
    int first = mo_decomp_segment_first_op(classes->segments, segment);
    mo_schedule *taken = NULL;
    bool fits = false;
    mo_status status = mo_schedule_new(cls->part->x, &classes->regime,
                                       s->device + first, &taken, err);

    if (status != MO_OK)
        return status;
    copy_segment_times(classes, segment, s, begin_ns, taken);
    status = set_makespan(cls->part->x, taken, err);
    if (status == MO_OK)
        status = mo_schedule_fits_memory(cls->part->x, taken, &fits, err);
    if (status == MO_OK && fits)
        return mo_decomp_class_update_upper(classes, cls, boundary, taken, err);
    mo_schedule_free(taken);
    return status;
}

mo_status mo_decomp_split_schedule(mo_decomp_classes *classes,
                                   const mo_schedule *s, mo_error *err)
{
    const mo_decomp_segments *p = classes->segments;
    bool all = classes->keep_variants && classes->x->n <= ALL_VARIANTS_MAX_OPS;
    mo_status status = MO_OK;

    for (int i = 0; i < p->n && status == MO_OK; i++) {
        const mo_decomp_class *cls = class_of(classes, i);
        int u = mo_decomp_segment_entry(p, i), v = mo_decomp_segment_exit(p, i);
        int64_t begin_ns = u == MO_FREE ? 0 : op_end_ns(classes->x, s, u);
        int64_t until_ns =
            v == MO_FREE ? s->makespan_ns : op_end_ns(classes->x, s, v);
        int boundary = cls->part ? mo_decomp_boundary_of(classes, s, i) : -1;

        if (boundary >= 0 &&
            (all || until_ns - begin_ns < cls->upper_ns[boundary]))
            status = keep_segment(classes, i, s, begin_ns, boundary, err);
    }
    return status;
}
