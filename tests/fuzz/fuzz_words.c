/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzer of the parsers of short texts: lists of processors, addresses of rank
 * 0, Slurm host lists, lines of solvers' logs, templates of commands, names of
 * columns, texts in identity columns.
 *
 * The first byte chooses the parser, the rest is its text.
 */
#include <assert.h>
#include <math.h>

#include "cost/cluster/cpu_list.h"
#include "exec/transport/rendezvous/address.h"
#include "exec/transport/rendezvous/launch.h"
#include "models/identity.h"
#include "solvers/answer/column_name.h"
#include "solvers/run_solver.h"
#include "solvers/registry.h"
#include "tests/fuzz/fuzz.h"

static void parse_cpu_list(const char *text)
{
    mo_arena *arena = mo_arena_new();
    const int *cpus = NULL;
    int n = 0;

    assert(arena);
    if (mo_cpu_list_read(text, arena, &cpus, &n)) {
        assert(cpus && n >= 1 && n <= MO_MAX_CPUS);
        for (int i = 0; i < n; i++) {
            assert(cpus[i] >= 0 && cpus[i] < MO_MAX_CPUS);
            assert(i == 0 || cpus[i - 1] < cpus[i]);
        }
    }
    mo_arena_free(arena);
}

static void parse_address(const char *text)
{
    char host[MO_RDV_HOST_SIZE];
    uint8_t address[MO_RDV_ADDRESS_BYTES];
    int port = -1;

    if (mo_rdv_parse_master(text, host, &port)) {
        assert(memchr(host, '\0', sizeof host) && host[0] != '\0');
        assert(port >= -1 && port <= 65535);
    }
    if (mo_rdv_hostlist_first(text, host))
        assert(memchr(host, '\0', sizeof host) && host[0] != '\0');
    if (mo_rdv_address_parse_loopback(text, address))
        assert(mo_rdv_address_is_loopback(address));
}

static void parse_log_line(const char *text)
{
    for (int i = 0; mo_solver_table[i]; i++) {
        mo_solver_progress step = { 0 };

        if (!mo_solver_table[i]->parse_log_line ||
            !mo_solver_table[i]->parse_log_line(text, &step))
            continue;
        assert(!step.has_incumbent || !isnan(step.incumbent));
        assert(!step.has_bound || !isnan(step.bound));
        assert(!isnan(step.seconds));
    }
}

/* Values are quoted: a placeholder adds no word and no command. */
static void expand_template(const char *text)
{
    const mo_solver_job job = { .model = "m'; exit \"1\" $(x)",
                                .folder = "/nowhere",
                                .gap = -1 };
    mo_error err = { 0 };
    char *line = NULL;
    mo_status status =
        mo_command_template_expand(text, &job, "s`x`", &line, &err);

    assert(status == MO_OK ? line != NULL : !line && err.text[0] != '\0');
    assert(!line || strstr(line, "'m'\\''; exit \"1\" $(x)'"));
    free(line);
}

static void parse_column_name(const char *text)
{
    mo_column_name name;
    mo_variable column = { 0 };
    char written[MO_VARIABLE_NAME];

    if (!mo_column_name_parse(text, &name))
        return;
    assert(name.n >= 0 && name.n <= MO_VARIABLE_NUMBERS);
    column.role = (mo_variable_role) name.role;
    if (column.role == MO_VARIABLE_ROLE_IDENTITY ||
        mo_variable_role_arity(column.role) != name.n)
        return;
    memcpy(column.number, name.number, sizeof column.number);
    mo_variable_name(&column, written);
    assert(strcmp(written, text) == 0);
}

static void encode_text(const char *text)
{
    char name[MO_VARIABLE_NAME] = "moirai_", decoded[2 * MO_VARIABLE_NAME];
    bool cut = false, whole = mo_identity_encode(text, name, sizeof name);

    assert(mo_identity_decode(name + strlen("moirai_"), decoded, &cut));
    assert(whole == !cut);
    assert(strncmp(decoded, text, strlen(decoded)) == 0);
    assert(cut || strcmp(decoded, text) == 0);
}

static void decode_text(const char *text)
{
    char *decoded = malloc(strlen(text) + 1);
    bool cut = false;

    assert(decoded);
    mo_identity_decode(text, decoded, &cut);
    free(decoded);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const parsers[])(const char *) = {
        parse_cpu_list,    parse_address, parse_log_line, expand_template,
        parse_column_name, encode_text,   decode_text
    };
    fuzz_input in = fuzz_input_of(data, size);
    int choice = fuzz_below(&in, sizeof parsers / sizeof *parsers);
    char *text = fuzz_text(&in, '\0', NULL);

    parsers[choice](text);
    free(text);
    return 0;
}
