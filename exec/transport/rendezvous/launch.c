/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/transport/rendezvous/launch.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exec/transport/rendezvous/address.h"

/* Ports for Slurm jobs: above those of services, below the ephemeral range. */
enum { JOB_PORTS_FROM = 15000, JOB_PORTS = 15000, LAST_PORT = 65535 };

static const char *get_variable(const char *variable)
{
    const char *text = getenv(variable);

    return text && *text ? text : NULL;
}

/* Digits only: "3", not " 3" or "3rd". */
static bool parse_number(const char *text, int max, int *number)
{
    long value = 0;

    for (const char *c = text; *c; c++) {
        if (*c < '0' || *c > '9')
            return false;
        value = value * 10 + (*c - '0');
        if (value > max)
            return false;
    }
    *number = (int) value;
    return *text != '\0';
}

static mo_status read_variable(const char *variable, int max, int *number,
                               bool *is_given, mo_error *err)
{
    const char *text = get_variable(variable);

    *is_given = text != NULL;
    if (!text || parse_number(text, max, number))
        return MO_OK;
    return mo_fail(err, MO_E_USAGE,
                   "%s is '%.64s', which is no number of 0 to "
                   "%d",
                   variable, text, max);
}

bool mo_rdv_parse_master(const char *text, char host[MO_RDV_HOST_SIZE],
                         int *port)
{
    bool bracketed = *text == '[';
    const char *end = bracketed ? strchr(text, ']') : strchr(text, ':');
    const char *begin = text + bracketed, *rest;
    size_t length;
    int number;

    if (bracketed && !end)
        return false;
    /* A bare IPv6 address has several colons, and no port. */
    if (!bracketed && (!end || strchr(end + 1, ':')))
        end = text + strlen(text);
    length = (size_t) (end - begin);
    rest = end + bracketed;
    if (length == 0 || length >= MO_RDV_HOST_SIZE ||
        strcspn(text, " \t/@") != strlen(text))
        return false;
    if (*rest && (*rest != ':' || !parse_number(rest + 1, LAST_PORT, &number) ||
                  number == 0))
        return false;
    if (*rest)
        *port = number;
    memcpy(host, begin, length);
    host[length] = '\0';
    return true;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool append_chars(char host[MO_RDV_HOST_SIZE], size_t *length,
                         const char *text, size_t n)
{
    if (n >= MO_RDV_HOST_SIZE - *length)
        return false;
    memcpy(host + *length, text, n);
    *length += n;
    host[*length] = '\0';
    return true;
}

bool mo_rdv_hostlist_first(const char *list, char host[MO_RDV_HOST_SIZE])
{
    size_t length = 0;

    host[0] = '\0';
    for (const char *at = list; *at && *at != ','; at++) {
        const char *end = at + 1;
        size_t digits = 0;

        if (*at != '[') {
            if (strchr(" \t]:/@", *at) || !append_chars(host, &length, at, 1))
                return false;
            continue;
        }
        /* The first number of the range, then all of it up to "]". */
        while (is_digit(end[digits]))
            digits++;
        while (is_digit(*end) || *end == '-' || *end == ',')
            end++;
        if (digits == 0 || *end != ']' ||
            !append_chars(host, &length, at + 1, digits))
            return false;
        at = end;
    }
    return length > 0;
}

/* Command options and MOIRAI_* variables; an option overrides its variable. */
static mo_status read_options(const mo_rdv_launch_options *launch,
                              mo_rdv_params *params, bool *found, mo_error *err)
{
    bool rank = launch->has_rank, ranks = launch->n_ranks > 0;
    mo_status status = MO_OK;

    params->source = rank || ranks ? "--rank" : "MOIRAI_RANK";
    params->from_options = true;
    params->rank = launch->rank;
    params->n_ranks = launch->n_ranks;
    if (!rank)
        status = read_variable("MOIRAI_RANK", MO_RDV_MAX_RANKS - 1,
                               &params->rank, &rank, err);
    if (status == MO_OK && !ranks)
        status = read_variable("MOIRAI_RANKS", MO_RDV_MAX_RANKS,
                               &params->n_ranks, &ranks, err);
    *found = rank && ranks;
    if (status == MO_OK && rank != ranks)
        status = mo_fail(err, MO_E_USAGE,
                         rank ? "a rank is given, but not how many there are: "
                                "set --ranks or MOIRAI_RANKS"
                              : "the number of ranks is given, but not which "
                                "this is: set --rank or MOIRAI_RANK");
    return status;
}

static mo_status read_torchrun(mo_rdv_params *params, bool *found,
                               mo_error *err)
{
    bool rank, ranks;
    mo_status status;

    *found = get_variable("RANK") && get_variable("WORLD_SIZE");
    if (!*found)
        return MO_OK;
    params->source = "torchrun";
    params->from_options = false;
    status = read_variable("RANK", INT_MAX, &params->rank, &rank, err);
    if (status == MO_OK)
        status =
            read_variable("WORLD_SIZE", INT_MAX, &params->n_ranks, &ranks, err);
    return status;
}

static mo_status read_launcher(mo_rdv_params *params, mo_rdv_launcher *launcher,
                               bool *found, mo_error *err)
{
    *found = mo_rdv_launcher_detect(launcher);
    if (!*found)
        return MO_OK;
    params->source = launcher->name;
    params->from_options = false;
    params->rank = launcher->rank;
    params->n_ranks = launcher->n_ranks;
    if (launcher->n_ranks == 1)
        params->rank = 0;
    if (params->rank >= 0 && launcher->n_ranks > 0)
        return MO_OK;
    return mo_fail(err, MO_E_USAGE,
                   "%s does not set which of how many ranks this is: use "
                   "--rank and --ranks",
                   launcher->name);
}

static mo_status set_master(mo_rdv_params *params, const char *master,
                            const char *told_by, mo_error *err)
{
    params->port = MO_RDV_DEFAULT_PORT;
    if (mo_rdv_parse_master(master, params->host, &params->port))
        return MO_OK;
    return mo_fail(err, MO_E_USAGE,
                   "%s is '%.128s', which is no HOST or HOST:PORT", told_by,
                   master);
}

/* On this machine: at the default port, or, where the job has a unique name,
 * at an abstract socket of that name. */
static void set_local_master(mo_rdv_params *params, const char *name)
{
    snprintf(params->host, sizeof params->host, "127.0.0.1");
    params->port = MO_RDV_DEFAULT_PORT;
#ifdef __linux__
    if (name)
        params->host[0] = '\0';
    snprintf(params->name, sizeof params->name, "%s", name ? name : "");
#else
    (void) name;
#endif
}

/* The agent of torchrun keeps MASTER_PORT for itself; where the variables come
 * from elsewhere it is free. */
static mo_status set_torchrun_master(mo_rdv_params *params, mo_error *err)
{
    const char *host = get_variable("MASTER_ADDR");
    int port = MO_RDV_DEFAULT_PORT;
    bool is_given;
    mo_status status;

    if (!host)
        return mo_fail(err, MO_E_USAGE,
                       "RANK and WORLD_SIZE are set, but not MASTER_ADDR: use "
                       "--master HOST");
    status = set_master(params, host, "MASTER_ADDR", err);
    if (status == MO_OK)
        status = read_variable("MASTER_PORT", LAST_PORT, &port, &is_given, err);
    if (status == MO_OK && is_given && get_variable("TORCHELASTIC_RUN_ID"))
        port += port < LAST_PORT ? 1 : -1;
    if (status == MO_OK && port == 0)
        return mo_fail(err, MO_E_USAGE, "MASTER_PORT is 0, which is no port");
    params->port = port;
    return status;
}

static mo_status set_slurm_master(mo_rdv_params *params, mo_error *err)
{
    const char *hosts = get_variable("SLURM_STEP_NODELIST"),
               *nodes = get_variable("SLURM_STEP_NUM_NODES"),
               *id = get_variable("SLURM_JOB_ID"),
               *step = get_variable("SLURM_STEP_ID");
    char name[MO_RDV_JOB_NAME_SIZE];
    uint64_t number;

    if (nodes && strcmp(nodes, "1") == 0 && id) {
        snprintf(name, sizeof name, "slurm-%.32s.%.32s", id, step ? step : "0");
        set_local_master(params, name);
        return MO_OK;
    }
    if (!hosts)
        hosts = get_variable("SLURM_NODELIST");
    if (!hosts || !mo_rdv_hostlist_first(hosts, params->host))
        return mo_fail(err, MO_E_USAGE,
                       "SLURM_STEP_NODELIST names no host where rank 0 is: "
                       "use --master HOST");
    number = strtoull(id ? id : "0", NULL, 10) * 31 +
             strtoull(step ? step : "0", NULL, 10);
    params->port = JOB_PORTS_FROM + (int) (number % JOB_PORTS);
    return MO_OK;
}

static mo_status resolve_ranks(const mo_rdv_launch_options *launch,
                               mo_rdv_params *params, mo_rdv_launcher *launcher,
                               mo_error *err)
{
    bool from_options, torchrun = false, found;
    mo_status status = read_options(launch, params, &from_options, err);
    const char *master =
        launch->master ? launch->master : get_variable("MOIRAI_MASTER");

    found = from_options;
    if (status == MO_OK && !found) {
        status = read_torchrun(params, &torchrun, err);
        found = torchrun;
    }
    if (status == MO_OK && !found)
        status = read_launcher(params, launcher, &found, err);
    if (status != MO_OK)
        return status;
    if (found && (params->n_ranks < 1 || params->n_ranks > MO_RDV_MAX_RANKS))
        return mo_fail(err, MO_E_USAGE,
                       "%s sets %d ranks; there can be 1 "
                       "to %d",
                       params->source, params->n_ranks, MO_RDV_MAX_RANKS);
    if (found && (params->rank < 0 || params->rank >= params->n_ranks))
        return mo_fail(
            err, MO_E_USAGE, "%s sets rank %d, but %d ranks are 0 to %d",
            params->source, params->rank, params->n_ranks, params->n_ranks - 1);
    if (!found || params->n_ranks == 1) {
        params->rank = 0;
        params->n_ranks = 1;
        return MO_OK;
    }
    if (master)
        return set_master(params, master,
                          launch->master ? "--master" : "MOIRAI_MASTER", err);
    if (torchrun)
        return set_torchrun_master(params, err);
    if (!from_options) {
        if (strcmp(launcher->name, "srun") == 0)
            return set_slurm_master(params, err);
        if (launcher->one_host) {
            set_local_master(params, launcher->job_name);
            return MO_OK;
        }
        return mo_fail(err, MO_E_USAGE,
                       "%s does not set on which host rank 0 is: use --master "
                       "HOST",
                       launcher->name);
    }
    set_local_master(params, NULL);
    return MO_OK;
}

bool mo_rdv_launch_excludes_shm(const mo_rdv_launch_options *launch)
{
    return launch->no_shm || get_variable("MOIRAI_NO_SHM");
}

mo_status mo_rdv_params_resolve(const mo_rdv_launch_options *launch,
                                mo_rdv_params *params, mo_error *err)
{
    mo_rdv_launcher launcher = { .rank = -1 };
    mo_status status;
    bool has_files = launch->tls_cert || launch->tls_key || launch->tls_ca;
    uint8_t address[MO_RDV_ADDRESS_BYTES];
    const char *job_name = get_variable("TORCHELASTIC_RUN_ID");

    memset(params, 0, sizeof *params);
    status = resolve_ranks(launch, params, &launcher, err);
    /* The token that authenticates ranks: an empty variable counts as given. By
     * default the name of the job, which keeps jobs apart that use the same
     * address. */
    params->token = launch->token ? launch->token : getenv("MOIRAI_TOKEN");
    params->has_token = params->token != NULL;
    if (!job_name)
        job_name = launcher.job_name;
    if (!params->has_token)
        params->token = job_name && !params->from_options ? job_name : "";
    params->bind = launch->bind ? launch->bind : get_variable("MOIRAI_BIND");
    params->no_shm = mo_rdv_launch_excludes_shm(launch);
    params->open = launch->open || get_variable("MOIRAI_OPEN");
    params->plain = launch->plain || get_variable("MOIRAI_PLAIN");
    params->tls_cert =
        has_files ? launch->tls_cert : get_variable("MOIRAI_TLS_CERT");
    params->tls_key =
        has_files ? launch->tls_key : get_variable("MOIRAI_TLS_KEY");
    params->tls_ca = has_files ? launch->tls_ca : get_variable("MOIRAI_TLS_CA");
    params->is_local =
        (!*params->host ||
         mo_rdv_address_parse_loopback(params->host, address)) &&
        (!params->bind || mo_rdv_address_parse_loopback(params->bind, address));
    return status;
}
