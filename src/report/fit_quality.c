#include "report/fit_quality.h"

#include <stdbool.h>

#include "report/prediction_error.h"

static size_t count(const mo_fitting *f, mo_part part)
{
    size_t n = 0;

    for (size_t i = 0; i < f->samples->n; i++)
        n += f->part[i] == part;
    return n;
}

static bool has(const mo_fitting *f, size_t device, mo_part part)
{
    for (size_t i = 0; i < f->samples->n; i++)
        if (f->part[i] == part && f->samples->items[i].device == (int) device)
            return true;
    return false;
}

/* The devices with rows in part, one after the other. */
static void put_devices(const mo_fitting *f, mo_part part, bool as_json,
                        mo_out *out)
{
    int n = 0;

    for (size_t d = 0; d < f->samples->n_devices; d++) {
        if (!has(f, d, part))
            continue;
        if (n++ > 0)
            mo_out_text(out, ", ");
        if (as_json)
            mo_out_json(out, f->samples->devices[d].id);
        else
            mo_out_text(out, f->samples->devices[d].id);
    }
}

static void put_line(const mo_fitting *f, const char *title, mo_part part,
                     mo_out *out)
{
    mo_out_printf(out, "%-12s%zu rows of ", title, count(f, part));
    put_devices(f, part, false, out);
    mo_out_char(out, '\n');
}

mo_status mo_fitting_text(const mo_fitting *fitting, mo_out *out, mo_error *err)
{
    size_t unused = fitting->samples->skipped + count(fitting, MO_PART_NEITHER);

    put_line(fitting, "fitted to", MO_PART_TRAIN, out);
    put_line(fitting, "tested on", MO_PART_TEST, out);
    if (unused > 0)
        mo_out_printf(out, "not used    %zu rows\n", unused);
    mo_out_char(out, '\n');
    return mo_accuracy_text(fitting->guesses, fitting->samples, out, err);
}

static void put_part(const mo_fitting *f, const char *key, mo_part part,
                     mo_out *out)
{
    mo_out_printf(out, "  \"%s\": {\"rows\": %zu, \"devices\": [", key,
                  count(f, part));
    put_devices(f, part, true, out);
    mo_out_text(out, "]},\n");
}

mo_status mo_fitting_json(const mo_fitting *fitting, mo_out *out, mo_error *err)
{
    mo_status status;

    mo_out_text(out, "{\n");
    put_part(fitting, "fitted", MO_PART_TRAIN, out);
    put_part(fitting, "tested", MO_PART_TEST, out);
    mo_out_printf(out, "  \"unused_rows\": %zu,\n",
                  fitting->samples->skipped + count(fitting, MO_PART_NEITHER));
    status = mo_accuracy_json(fitting->guesses, fitting->samples, out, err);
    mo_out_text(out, "\n}\n");
    return status;
}
