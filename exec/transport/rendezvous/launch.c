/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/transport/rendezvous/launch.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ports for jobs of Slurm: above those of services, below those that systems
 * give to whoever asks for any. */
enum { JOB_PORTS_FROM = 15000, JOB_PORTS = 15000, LAST_PORT = 65535 };

/* ------------------------------------------------------------------ reading */

static const char *value_of(const char *variable)
{
    const char *text = getenv(variable);

    return text && *text ? text : NULL;
}

/* Digits only: "3", not " 3" or "3rd". */
static bool read_number(const char *text, int max, int *number)
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
                               bool *there, mo_error *err)
{
    const char *text = value_of(variable);

    *there = text != NULL;
    if (!text || read_number(text, max, number))
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
    /* An address of IPv6 by itself has many colons, and no port. */
    if (!bracketed && (!end || strchr(end + 1, ':')))
        end = text + strlen(text);
    length = (size_t) (end - begin);
    rest = end + bracketed;
    if (length == 0 || length >= MO_RDV_HOST_SIZE ||
        strcspn(text, " \t/@") != strlen(text))
        return false;
    if (*rest && (*rest != ':' || !read_number(rest + 1, LAST_PORT, &number) ||
                  number == 0))
        return false;
    if (*rest)
        *port = number;
    memcpy(host, begin, length);
    host[length] = '\0';
    return true;
}

/* ---------------------------------------------------------- who has told it */

/* Options and MOIRAI_*, each in place of the other. */
static mo_status ask_ourselves(const mo_rdv_launch_options *told,
                               mo_rdv_params *job, bool *found, mo_error *err)
{
    bool rank = told->rank_told, ranks = told->n_ranks > 0;
    mo_status status = MO_OK;

    job->by = rank || ranks ? "--rank" : "MOIRAI_RANK";
    job->by_us = true;
    job->rank = told->rank;
    job->n_ranks = told->n_ranks;
    if (!rank)
        status = read_variable("MOIRAI_RANK", MO_RDV_MAX_RANKS - 1, &job->rank,
                               &rank, err);
    if (status == MO_OK && !ranks)
        status = read_variable("MOIRAI_RANKS", MO_RDV_MAX_RANKS, &job->n_ranks,
                               &ranks, err);
    *found = rank && ranks;
    if (status == MO_OK && rank != ranks)
        status = mo_fail(err, MO_E_USAGE,
                         rank ? "a rank is told, but not how many there are: "
                                "say --ranks or MOIRAI_RANKS"
                              : "the number of ranks is told, but not which "
                                "this is: say --rank or MOIRAI_RANK");
    return status;
}

static mo_status ask_torchrun(mo_rdv_params *job, bool *found, mo_error *err)
{
    bool rank, ranks;
    mo_status status;

    *found = value_of("RANK") && value_of("WORLD_SIZE");
    if (!*found)
        return MO_OK;
    job->by = "torchrun";
    job->by_us = false;
    status = read_variable("RANK", INT_MAX, &job->rank, &rank, err);
    if (status == MO_OK)
        status =
            read_variable("WORLD_SIZE", INT_MAX, &job->n_ranks, &ranks, err);
    return status;
}

static mo_status ask_launcher(mo_rdv_params *job, mo_rdv_launcher *launcher,
                              bool *found, mo_error *err)
{
    *found = mo_rdv_launcher_detect(launcher);
    if (!*found)
        return MO_OK;
    job->by = launcher->name;
    job->by_us = false;
    job->rank = launcher->rank;
    job->n_ranks = launcher->n_ranks;
    if (launcher->n_ranks == 1)
        job->rank = 0;
    if (job->rank >= 0 && launcher->n_ranks > 0)
        return MO_OK;
    return mo_fail(err, MO_E_USAGE,
                   "%s does not tell which of how many ranks this is: say "
                   "--rank and --ranks",
                   launcher->name);
}

static mo_status check_numbers(const mo_rdv_params *job, mo_error *err)
{
    if (job->n_ranks < 1 || job->n_ranks > MO_RDV_MAX_RANKS)
        return mo_fail(err, MO_E_USAGE,
                       "%s tells of %d ranks; there can be 1 "
                       "to %d",
                       job->by, job->n_ranks, MO_RDV_MAX_RANKS);
    if (job->rank < 0 || job->rank >= job->n_ranks)
        return mo_fail(err, MO_E_USAGE,
                       "%s tells of rank %d, but %d ranks are 0 to %d", job->by,
                       job->rank, job->n_ranks, job->n_ranks - 1);
    return MO_OK;
}

/* ---------------------------------------------------------- where they meet */

static mo_status meet_at(mo_rdv_params *job, const char *master,
                         const char *told_by, mo_error *err)
{
    job->port = MO_RDV_DEFAULT_PORT;
    if (mo_rdv_parse_master(master, job->host, &job->port))
        return MO_OK;
    return mo_fail(err, MO_E_USAGE,
                   "%s is '%.128s', which is no HOST or HOST:PORT", told_by,
                   master);
}

/* On this machine: at a port that all know, or, where the job has a name that
 * others do not have, at this one. */
static void meet_here(mo_rdv_params *job, const char *name)
{
    snprintf(job->host, sizeof job->host, "127.0.0.1");
    job->port = MO_RDV_DEFAULT_PORT;
#ifdef __linux__
    if (name)
        job->host[0] = '\0';
    snprintf(job->name, sizeof job->name, "%s", name ? name : "");
#else
    (void) name;
#endif
}

/* The agents of torchrun keep MASTER_PORT for themselves; where somebody else
 * has set the variables it is free. */
static mo_status meet_as_torchrun(mo_rdv_params *job, mo_error *err)
{
    const char *host = value_of("MASTER_ADDR");
    int port = MO_RDV_DEFAULT_PORT;
    bool there;
    mo_status status;

    if (!host)
        return mo_fail(err, MO_E_USAGE,
                       "RANK and WORLD_SIZE are set, but not MASTER_ADDR: say "
                       "--master HOST");
    status = meet_at(job, host, "MASTER_ADDR", err);
    if (status == MO_OK)
        status = read_variable("MASTER_PORT", LAST_PORT, &port, &there, err);
    if (status == MO_OK && there && value_of("TORCHELASTIC_RUN_ID"))
        port += port < LAST_PORT ? 1 : -1;
    if (status == MO_OK && port == 0)
        return mo_fail(err, MO_E_USAGE, "MASTER_PORT is 0, which is no port");
    job->port = port;
    return status;
}

static int port_of_job(const char *job, const char *step)
{
    uint64_t number = strtoull(job ? job : "0", NULL, 10) * 31 +
                      strtoull(step ? step : "0", NULL, 10);

    return JOB_PORTS_FROM + (int) (number % JOB_PORTS);
}

static mo_status meet_as_slurm(mo_rdv_params *job, mo_error *err)
{
    const char *hosts = value_of("SLURM_STEP_NODELIST"),
               *nodes = value_of("SLURM_STEP_NUM_NODES"),
               *id = value_of("SLURM_JOB_ID"),
               *step = value_of("SLURM_STEP_ID");
    char name[MO_RDV_JOB_NAME_SIZE];

    if (nodes && strcmp(nodes, "1") == 0 && id) {
        snprintf(name, sizeof name, "slurm-%.32s.%.32s", id, step ? step : "0");
        meet_here(job, name);
        return MO_OK;
    }
    if (!hosts)
        hosts = value_of("SLURM_NODELIST");
    if (!hosts || !mo_rdv_hostlist_first(hosts, job->host))
        return mo_fail(err, MO_E_USAGE,
                       "SLURM_STEP_NODELIST names no host where rank 0 is: "
                       "say --master HOST");
    job->port = port_of_job(id, step);
    return MO_OK;
}

static mo_status meet_as_launched(mo_rdv_params *job,
                                  const mo_rdv_launcher *launcher,
                                  mo_error *err)
{
    if (strcmp(launcher->name, "srun") == 0)
        return meet_as_slurm(job, err);
    if (launcher->one_host) {
        meet_here(job, launcher->job);
        return MO_OK;
    }
    return mo_fail(err, MO_E_USAGE,
                   "%s does not tell on which host rank 0 is: say --master "
                   "HOST",
                   launcher->name);
}

/* Only who knows it joins.  Where nobody has given one, the name of the job
 * keeps jobs apart that meet at the same place. */
static void choose_token(const mo_rdv_launch_options *told,
                         const mo_rdv_launcher *launcher, mo_rdv_params *job)
{
    const char *named[] = { told->token, value_of("MOIRAI_TOKEN"),
                            value_of("TORCHELASTIC_RUN_ID"), launcher->job };

    job->token = "";
    for (int i = job->by_us ? 1 : 3; i >= 0; i--)
        if (named[i])
            job->token = named[i];
}

static mo_status find_job(const mo_rdv_launch_options *told, mo_rdv_params *job,
                          mo_rdv_launcher *launcher, mo_error *err)
{
    bool ours, torchrun = false, found;
    mo_status status = ask_ourselves(told, job, &ours, err);
    const char *master =
        told->master ? told->master : value_of("MOIRAI_MASTER");

    found = ours;
    if (status == MO_OK && !found) {
        status = ask_torchrun(job, &torchrun, err);
        found = torchrun;
    }
    if (status == MO_OK && !found)
        status = ask_launcher(job, launcher, &found, err);
    if (status == MO_OK && found)
        status = check_numbers(job, err);
    if (status != MO_OK)
        return status;
    if (!found || job->n_ranks == 1) {
        job->rank = 0;
        job->n_ranks = 1;
        return MO_OK;
    }
    if (master)
        return meet_at(job, master, told->master ? "--master" : "MOIRAI_MASTER",
                       err);
    if (torchrun)
        return meet_as_torchrun(job, err);
    if (!ours)
        return meet_as_launched(job, launcher, err);
    meet_here(job, NULL);
    return MO_OK;
}

mo_status mo_rdv_params_resolve(const mo_rdv_launch_options *told,
                                mo_rdv_params *job, mo_error *err)
{
    mo_rdv_launcher launcher = { .rank = -1 };
    mo_status status;

    memset(job, 0, sizeof *job);
    status = find_job(told, job, &launcher, err);
    choose_token(told, &launcher, job);
    job->bind = told->bind ? told->bind : value_of("MOIRAI_BIND");
    return status;
}
