/* SPDX-License-Identifier: Apache-2.0 */
#include "models/frame/memory_rows.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/array.h"
#include "models/sink/scale.h"

struct mo_memory_rows {
    const mo_frame *frame;
    int n_segments;          /* with static memory one, of all ops */
    int *ends;               /* by segment but the last: its last op, a cut */
    int64_t *segment_bytes;  /* upper bound on the need of a device in it */
    int64_t *out_bytes;      /* by op: its tensors, unknown ones as 0 */
    bool *excluded;          /* by device */
    mo_memory_scale *scale;  /* by device, where it is limited */
    int *space;              /* by device: column of a_k, or -1 */
    int64_t workspace_bytes; /* of the op that has most */
};

static bool is_live(const mo_memory_rows *rows)
{
    return rows->frame->regime.memory == MO_MEMORY_LIVE;
}

static int64_t tensor_bytes(const mo_instance *x, int tensor)
{
    return x->tensor_bytes[tensor] > 0 ? x->tensor_bytes[tensor] : 0;
}

static int64_t op_workspace(const mo_instance *x, int op)
{
    return x->memory_bytes[op] - x->weight_bytes[op];
}

/* Bytes that an op occupies on its device at every moment. */
static int64_t resident_bytes(const mo_memory_rows *rows, int op)
{
    const mo_instance *x = rows->frame->x;

    return is_live(rows) ? x->weight_bytes[op] : x->memory_bytes[op];
}

/* Saturating: INT64_MAX bytes fit nowhere. */
static int64_t add_saturating(int64_t a, int64_t b)
{
    int64_t sum = INT64_MAX;

    (void) mo_int64_add(a, b, &sum);
    return sum;
}

static int64_t mul_saturating(int64_t a, int64_t b)
{
    int64_t product = INT64_MAX;

    (void) mo_int64_mul(a, b, &product);
    return product;
}

/* Segment g has the ops first .. last, the cuts at its ends included: the
 * output of one cut is alive when the next one runs.  A cut that may take no
 * time ends no segment: its inputs are alive when the op after it starts. */
static int first_op(const mo_memory_rows *rows, int g)
{
    return g == 0 ? 0 : rows->ends[g - 1];
}

static int last_op(const mo_memory_rows *rows, int g)
{
    return g + 1 == rows->n_segments ? rows->frame->x->n - 1 : rows->ends[g];
}

/* The copies of a tensor that one device may hold: one, or one for each
 * reader. */
static int max_copies(const mo_memory_rows *rows, int tensor)
{
    const mo_instance *x = rows->frame->x;
    int readers = x->tensor_start[tensor + 1] - x->tensor_start[tensor];

    return rows->frame->regime.tensors == MO_TENSORS_ONCE ? 1 : readers;
}

/* Binary search: tensors are numbered by their producers. */
static int first_tensor(const mo_instance *x, int op)
{
    int low = 0, high = x->n_tensors;

    while (low < high) {
        int middle = low + (high - low) / 2;

        if (x->tensor_from[middle] < op)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Upper bound on the bytes of a segment's tensors on one device. */
static int64_t segment_tensor_bytes(const mo_memory_rows *rows, int g)
{
    const mo_instance *x = rows->frame->x;
    int end = first_tensor(x, last_op(rows, g) + 1);
    int64_t sum = 0;

    for (int t = first_tensor(x, first_op(rows, g)); t < end; t++)
        sum = add_saturating(
            sum, mul_saturating(tensor_bytes(x, t), max_copies(rows, t)));
    return sum;
}

static bool is_tight(const mo_memory_rows *rows, int segment, int device)
{
    return !rows->excluded[device] &&
           rows->segment_bytes[segment] >
               rows->frame->x->capacity_bytes[device];
}

static bool is_limited(const mo_memory_rows *rows, int device)
{
    for (int g = 0; g < rows->n_segments; g++)
        if (is_tight(rows, g, device))
            return true;
    return false;
}

/* A size far over the capacity excludes no more than one a little over it, and
 * would be a coefficient out of range. */
static int64_t clip_size(int64_t bytes, int64_t capacity)
{
    int64_t most = capacity == 0 ? 1 : mul_saturating(capacity, 2);

    return bytes < most ? bytes : most;
}

static mo_status choose_scales(mo_memory_rows *rows, mo_error *err)
{
    const mo_instance *x = rows->frame->x;
    size_t n = 2 * (size_t) x->n + (size_t) x->n_tensors;
    int64_t *sizes = malloc((n + 1) * sizeof *sizes);

    if (!sizes)
        return mo_fail_memory(err);
    for (int k = 0; k < x->n_devices; k++) {
        int64_t capacity = x->capacity_bytes[k];
        int count = 0;

        if (!is_limited(rows, k))
            continue;
        for (int i = 0; i < x->n; i++) {
            sizes[count++] = clip_size(resident_bytes(rows, i), capacity);
            if (is_live(rows))
                sizes[count++] = clip_size(op_workspace(x, i), capacity);
        }
        for (int t = 0; t < x->n_tensors && is_live(rows); t++)
            sizes[count++] = clip_size(tensor_bytes(x, t), capacity);
        rows->scale[k] = mo_memory_scale_for(sizes, count, capacity);
    }
    free(sizes);
    return MO_OK;
}

static bool takes_time(const mo_instance *x, int op)
{
    for (int k = 0; k < x->n_devices; k++)
        if (mo_instance_p_ns(x, op, k) == 0)
            return false;
    return true;
}

static mo_status find_segments(mo_memory_rows *rows, mo_error *err)
{
    const mo_frame *frame = rows->frame;

    rows->ends = calloc((size_t) frame->n_cuts + 1, sizeof *rows->ends);
    if (!rows->ends)
        return mo_fail_memory(err);
    if (frame->regime.memory == MO_MEMORY_NONE || frame->x->n == 0)
        return MO_OK;
    for (int i = 0; i < frame->n_cuts && is_live(rows); i++)
        if (takes_time(frame->x, frame->cuts[i]))
            rows->ends[rows->n_segments++] = frame->cuts[i];
    rows->n_segments++;
    return MO_OK;
}

mo_status mo_memory_rows_new(const mo_frame *frame, mo_memory_rows **rows,
                             mo_error *err)
{
    static const mo_memory_rows none = { 0 };
    mo_memory_rows *made = malloc(sizeof *made);
    mo_status status;

    if (!made)
        return mo_fail_memory(err);
    *made = none;
    made->frame = frame;
    status = find_segments(made, err);
    if (status == MO_OK) {
        const mo_instance *x = made->frame->x;
        size_t n_devices = (size_t) x->n_devices;

        made->segment_bytes =
            calloc((size_t) made->n_segments + 1, sizeof *made->segment_bytes);
        made->out_bytes = calloc((size_t) x->n + 1, sizeof *made->out_bytes);
        made->scale = calloc(n_devices + 1, sizeof *made->scale);
        made->space = calloc(n_devices + 1, sizeof *made->space);
        made->excluded = calloc(n_devices + 1, sizeof *made->excluded);
        if (!made->segment_bytes || !made->out_bytes || !made->scale ||
            !made->space || !made->excluded)
            status = mo_fail_memory(err);
    }
    if (status == MO_OK) {
        const mo_instance *x = made->frame->x;
        int64_t always = 0;

        for (int i = 0; i < x->n; i++) {
            always = add_saturating(always, resident_bytes(made, i));
            if (is_live(made) && op_workspace(x, i) > made->workspace_bytes)
                made->workspace_bytes = op_workspace(x, i);
        }
        always = add_saturating(always, made->workspace_bytes);
        for (int t = 0; t < x->n_tensors; t++)
            made->out_bytes[x->tensor_from[t]] = add_saturating(
                made->out_bytes[x->tensor_from[t]], tensor_bytes(x, t));
        for (int g = 0; g < made->n_segments; g++)
            made->segment_bytes[g] = add_saturating(
                always, is_live(made) ? segment_tensor_bytes(made, g) : 0);
        status = choose_scales(made, err);
    }
    if (status != MO_OK) {
        mo_memory_rows_free(made);
        return status;
    }
    *rows = made;
    return MO_OK;
}

void mo_memory_rows_free(mo_memory_rows *rows)
{
    if (!rows)
        return;
    free(rows->ends);
    free(rows->segment_bytes);
    free(rows->out_bytes);
    free(rows->scale);
    free(rows->space);
    free(rows->excluded);
    free(rows);
}

void mo_memory_rows_exclude(mo_memory_rows *rows, int device)
{
    rows->excluded[device] = true;
}

/* Bytes on a device as scaled in its rows; never too small to be read. */
static double scaled_size(const mo_memory_rows *rows, int device, int64_t bytes)
{
    int64_t capacity = rows->frame->x->capacity_bytes[device];
    double size =
        mo_memory_scale_size(&rows->scale[device], clip_size(bytes, capacity));

    return bytes > 0 && size < 1e-6 ? 1e-6 : size;
}

static double scaled_capacity(const mo_memory_rows *rows, int device)
{
    return mo_memory_scale_size(&rows->scale[device],
                                rows->frame->x->capacity_bytes[device]);
}

void mo_memory_rows_columns(mo_memory_rows *rows, const mo_schedule *start,
                            mo_sink *sink)
{
    for (int k = 0; k < rows->frame->x->n_devices; k++) {
        int64_t most = 0;
        mo_variable a = { .role = MO_VARIABLE_ROLE_SPACE, .number = { k } };

        rows->space[k] = -1;
        if (rows->workspace_bytes == 0 || !is_limited(rows, k))
            continue;
        a.upper = scaled_capacity(rows, k);
        for (int i = 0; start && i < start->n; i++)
            if (start->device[i] == k && op_workspace(rows->frame->x, i) > most)
                most = op_workspace(rows->frame->x, i);
        a.value = scaled_size(rows, k, most);
        rows->space[k] = mo_sink_column(sink, &a);
    }
}

void mo_memory_rows_write(const mo_memory_rows *rows,
                          const mo_memory_rows_source *columns, mo_sink *sink)
{
    int n_devices = rows->frame->x->n_devices;

    if (rows->n_segments == 0)
        return;
    mo_sink_family(sink, "memory");
    for (int k = 0; k < n_devices; k++)
        for (int g = 0; g < rows->n_segments; g++)
            if (is_tight(rows, g, k)) {
                const mo_instance *x = rows->frame->x;
                int first = first_op(rows, g), last = last_op(rows, g);
                int end = first_tensor(x, last + 1);

                for (int i = 0; i < x->n; i++) {
                    int place = columns->place(columns->state, i, k);
                    bool inside = is_live(rows) && i >= first && i <= last;
                    int64_t bytes =
                        add_saturating(resident_bytes(rows, i),
                                       inside ? rows->out_bytes[i] : 0);

                    if (place >= 0 && bytes > 0)
                        mo_sink_term(sink, place, scaled_size(rows, k, bytes));
                }
                if (rows->space[k] >= 0)
                    mo_sink_term(sink, rows->space[k], 1);
                if (is_live(rows))
                    for (int t = first_tensor(x, first); t < end; t++)
                        if (tensor_bytes(x, t) > 0)
                            columns->received(
                                columns->state, sink, t, k,
                                scaled_size(rows, k, tensor_bytes(x, t)));
                mo_sink_row(sink, MO_LE, scaled_capacity(rows, k));
            }
    if (!is_live(rows))
        return;
    mo_sink_family(sink, "space");
    for (int k = 0; k < n_devices; k++)
        if (rows->space[k] >= 0) {
            /* a_k >= workspace of op i, if it is on k */
            for (int i = 0; i < rows->frame->x->n; i++) {
                int place = columns->place(columns->state, i, k);

                if (place < 0 || op_workspace(rows->frame->x, i) == 0)
                    continue;
                mo_sink_term(sink, rows->space[k], 1);
                mo_sink_term(
                    sink, place,
                    -scaled_size(rows, k, op_workspace(rows->frame->x, i)));
                mo_sink_row(sink, MO_GE, 0);
            }
        }
}

/* The copies of a tensor that are sent to a device in a placement. */
static int copies_sent(const mo_memory_rows *rows, const int *device,
                       int tensor, int to)
{
    const mo_instance *x = rows->frame->x;
    int copies = 0;

    if (device[x->tensor_from[tensor]] == to)
        return 0;
    for (int q = x->tensor_start[tensor]; q < x->tensor_start[tensor + 1]; q++)
        copies += device[x->flows[q].to] == to;
    return copies > max_copies(rows, tensor) ? 1 : copies;
}

static int64_t segment_need(const mo_memory_rows *rows, const int *device,
                            int g, int k)
{
    const mo_instance *x = rows->frame->x;
    int first = first_op(rows, g), last = last_op(rows, g);
    int end = first_tensor(x, last + 1);
    int64_t sum = 0, most = 0;

    for (int i = 0; i < x->n; i++) {
        if (device[i] != k)
            continue;
        sum = add_saturating(sum, resident_bytes(rows, i));
        if (is_live(rows) && op_workspace(x, i) > most)
            most = op_workspace(x, i);
        if (is_live(rows) && i >= first && i <= last)
            sum = add_saturating(sum, rows->out_bytes[i]);
    }
    for (int t = first_tensor(x, first); t < end && is_live(rows); t++)
        sum = add_saturating(sum,
                             mul_saturating(tensor_bytes(x, t),
                                            copies_sent(rows, device, t, k)));
    return add_saturating(sum, most);
}

bool mo_memory_rows_accept(const mo_memory_rows *rows, const int *device)
{
    const mo_instance *x = rows->frame->x;

    for (int k = 0; k < x->n_devices; k++)
        for (int g = 0; g < rows->n_segments; g++)
            if (is_tight(rows, g, k) &&
                segment_need(rows, device, g, k) > x->capacity_bytes[k])
                return false;
    return true;
}
