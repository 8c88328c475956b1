#include <stdlib.h>
#include <string.h>

#include "models/frame_parts.h"

/*
 * The head of op i on device k: it starts after all it reads has come, so
 *
 *     head[i,k] >= min over a of head[j,a] + p[j,a] + c[q,a,k]
 *
 * for every flow q of j into it, whatever else is sent meanwhile.  What flows
 * within a group stays on its device.  When a clean cut starts, all ops since
 * the cut before it have run, so that their load counts, too.  Tails are the
 * mirror image.
 *
 * An op whose head, time and tail on a device exceed the horizon may not run
 * there; without that device heads and tails of others grow, and so on.  Any
 * number of rounds is valid, and most of it happens in the first.
 */
enum { MAX_ROUNDS = 16 };

typedef enum direction { FORWARD, BACKWARD } direction;

struct windows {
    mo_frame *f;
    direction way;      /* heads go forward, tails backward */
    int64_t *side;      /* the frame's heads or tails */
    int64_t *at;        /* by device: the least time at which it can be there */
    int64_t *scratch;   /* by device */
    bool *group_denied; /* by group and device */
};

static int64_t place(const mo_frame *f, int op, int device)
{
    return (int64_t) op * f->x->n_devices + device;
}

static void raise_to(int64_t *value, int64_t least)
{
    if (*value < least)
        *value = least;
}

static int row_of(const mo_frame *f, int flow)
{
    const mo_instance *x = f->x;

    return f->regime.tensors == MO_TENSORS_ONCE
               ? x->tensor_row[x->flows[flow].tensor]
               : x->flow_row[flow];
}

static int64_t side_with_p(const struct windows *w, int op, int device)
{
    return w->side[place(w->f, op, device)] +
           mo_instance_p_ns(w->f->x, op, device);
}

static int64_t least_side_with_p(const struct windows *w, int op)
{
    int64_t least = INT64_MAX;

    for (int k = 0; k < w->f->x->n_devices; k++)
        if (mo_frame_allowed(w->f, op, k) && side_with_p(w, op, k) < least)
            least = side_with_p(w, op, k);
    return least;
}

/* For everything of that row that leaves op, or, backward, comes to it. */
static void find_at(struct windows *w, int op, int row)
{
    const mo_instance *x = w->f->x;

    for (int k = 0; k < x->n_devices; k++)
        w->at[k] = INT64_MAX;
    for (int a = 0; a < x->n_devices; a++) {
        int64_t here = side_with_p(w, op, a);
        if (!mo_frame_allowed(w->f, op, a))
            continue;
        for (int k = 0; k < x->n_devices; k++) {
            int64_t there =
                here + (w->way == FORWARD ? mo_instance_row_ns(x, row, a, k)
                                          : mo_instance_row_ns(x, row, k, a));
            if (there < w->at[k])
                w->at[k] = there;
        }
    }
}

static bool share_group(const mo_instance *x, int a, int b)
{
    return x->group[a] != MO_FREE && x->group[a] == x->group[b];
}

/* Tells the other ends of op's flows what op's own side means for them. */
static void spread(struct windows *w, int op)
{
    const mo_instance *x = w->f->x;
    const int *start = w->way == FORWARD ? x->out_start : x->in_start;
    int row = -1;

    for (int e = start[op]; e < start[op + 1]; e++) {
        int flow = w->way == FORWARD ? e : x->in_flows[e];
        int other = w->way == FORWARD ? x->flows[flow].to : x->flows[flow].from;
        bool stays = share_group(x, op, other);

        if (!stays && row != row_of(w->f, flow)) {
            row = row_of(w->f, flow);
            find_at(w, op, row);
        }
        for (int k = 0; k < x->n_devices; k++)
            if (mo_frame_allowed(w->f, other, k))
                raise_to(&w->side[place(w->f, other, k)],
                         stays ? side_with_p(w, op, k) : w->at[k]);
    }
}

/* All ops from first to last - 1 run between a time that has gone by and the
 * cut. */
static void add_load(struct windows *w, int cut, int first, int last,
                     int64_t gone_ns)
{
    int64_t least = gone_ns + mo_frame_load_ns(w->f, first, last, w->scratch);

    for (int k = 0; k < w->f->x->n_devices; k++)
        raise_to(&w->side[place(w->f, cut, k)], least);
}

static void find_heads(struct windows *w)
{
    const mo_frame *f = w->f;
    int cut = 0, before = -1;
    int64_t gone_ns = 0;

    w->way = FORWARD;
    w->side = f->head_ns;
    for (int i = 0; i < f->x->n; i++) {
        if (cut < f->n_cuts && f->cuts[cut] == i) {
            add_load(w, i, before + 1, i, gone_ns);
            gone_ns = least_side_with_p(w, i);
            before = i;
            cut++;
        }
        spread(w, i);
    }
}

static void find_tails(struct windows *w)
{
    const mo_frame *f = w->f;
    int cut = f->n_cuts - 1, behind = f->x->n;
    int64_t gone_ns = 0;

    w->way = BACKWARD;
    w->side = f->tail_ns;
    for (int i = f->x->n - 1; i >= 0; i--) {
        if (cut >= 0 && f->cuts[cut] == i) {
            add_load(w, i, i + 1, behind, gone_ns);
            gone_ns = least_side_with_p(w, i);
            behind = i;
            cut--;
        }
        spread(w, i);
    }
}

static bool has_time(const mo_frame *f, int op, int device)
{
    int64_t at = place(f, op, device);

    return f->head_ns[at] + mo_instance_p_ns(f->x, op, device) +
               f->tail_ns[at] <=
           f->horizon_ns;
}

/* A group goes where all of its ops can. */
static void deny_groups(struct windows *w)
{
    const mo_instance *x = w->f->x;
    size_t n_devices = (size_t) x->n_devices;

    memset(w->group_denied, 0, (size_t) x->n_groups * n_devices);
    for (int i = 0; i < x->n; i++)
        for (int k = 0; k < x->n_devices && x->group[i] != MO_FREE; k++)
            if (!has_time(w->f, i, k))
                w->group_denied[(size_t) x->group[i] * n_devices + (size_t) k] =
                    true;
}

static bool is_denied(const struct windows *w, int op, int device)
{
    const mo_instance *x = w->f->x;

    if (x->group[op] == MO_FREE)
        return !has_time(w->f, op, device);
    return w->group_denied[(int64_t) x->group[op] * x->n_devices + device];
}

/* Returns whether any device was taken from op, and left it one. */
static bool deny_op(struct windows *w, int op)
{
    mo_frame *f = w->f;
    bool changed = false, any = false;

    for (int k = 0; k < f->x->n_devices; k++) {
        bool *allowed = &f->allowed[place(f, op, k)];
        if (*allowed && is_denied(w, op, k)) {
            *allowed = false;
            changed = true;
        }
        any = any || *allowed;
    }
    if (!any)
        mo_frame_allow_by_pin(f, op);
    return changed && any;
}

/* Returns whether there is reason for another round. */
static bool deny(struct windows *w)
{
    bool changed = false;

    deny_groups(w);
    for (int i = 0; i < w->f->x->n; i++)
        changed |= deny_op(w, i);
    return changed;
}

static void find_spans(mo_frame *f)
{
    for (int i = 0; i < f->x->n; i++) {
        f->est_ns[i] = INT64_MAX;
        f->lct_ns[i] = INT64_MIN;
        for (int k = 0; k < f->x->n_devices; k++) {
            int64_t at = place(f, i, k);
            if (!f->allowed[at])
                continue;
            if (f->head_ns[at] < f->est_ns[i])
                f->est_ns[i] = f->head_ns[at];
            raise_to(&f->lct_ns[i], f->horizon_ns - f->tail_ns[at]);
        }
    }
}

mo_status mo_frame_find_windows(mo_frame *f, mo_error *err)
{
    size_t n_devices = (size_t) f->x->n_devices;
    size_t n_groups = (size_t) f->x->n_groups;
    struct windows w = { .f = f };
    mo_status status = MO_OK;

    w.at = calloc(n_devices + 1, sizeof *w.at);
    w.scratch = calloc(n_devices + 1, sizeof *w.scratch);
    w.group_denied = calloc(n_groups + 1, n_devices + 1);
    if (!w.at || !w.scratch || !w.group_denied) {
        status = mo_fail_memory(err);
        goto out;
    }
    for (int round = 0; round < MAX_ROUNDS; round++) {
        find_heads(&w); /* which only grow, like tails, from round to round */
        find_tails(&w);
        if (!deny(&w))
            break;
    }
    find_spans(f);
out:
    free(w.at);
    free(w.scratch);
    free(w.group_denied);
    return status;
}
