/* SPDX-License-Identifier: Apache-2.0 */
/*
 * variable.h - decision variables of a model: meaning, bounds and name.
 *
 * A name is a letter and numbers, x_12_3, which every solver's reader accepts;
 * moirai-model(5) has the table.  Numbers are those of the instance: ops and
 * devices; transfers are flows where every reader receives its own copy, and
 * those of models/compact/transfer_items.h where a tensor is sent once.
 */
#ifndef MO_MODELS_SINK_VARIABLE_H
#define MO_MODELS_SINK_VARIABLE_H

#include <stddef.h>

/* The role of a variable; its value is the first letter of the name. */
typedef enum mo_variable_role {
    MO_VARIABLE_ROLE_PLACE = 'x',    /* op on device */
    MO_VARIABLE_ROLE_START = 's',    /* of an op */
    MO_VARIABLE_ROLE_COMPLETE = 'c', /* of an op */
    MO_VARIABLE_ROLE_SEND = 't',     /* start of a transfer */
    MO_VARIABLE_ROLE_ARRIVE = 'd',   /* completion of a transfer */
    MO_VARIABLE_ROLE_CHANNEL = 'y',  /* transfer from device to device */
    MO_VARIABLE_ROLE_CROSS =
        'z', /* a transfer's ends are on different devices */
    MO_VARIABLE_ROLE_ORDER = 'o',       /* op before op */
    MO_VARIABLE_ROLE_SEND_ORDER = 'h',  /* transfer before transfer */
    MO_VARIABLE_ROLE_SAME_DEVICE = 'm', /* op and op on one device */
    MO_VARIABLE_ROLE_SEGMENT = 'g',     /* its ends on device and device */
    MO_VARIABLE_ROLE_PATTERN =
        'p', /* of a segment, its ends on device and device; variant */
    MO_VARIABLE_ROLE_REPLICA = 'r',  /* of a further copy: op on device */
    MO_VARIABLE_ROLE_FAVORITE = 'f', /* sct: flow is not to a favourite child */
    MO_VARIABLE_ROLE_SPACE = 'a',    /* workspace on device */
    MO_VARIABLE_ROLE_MAKESPAN = 'w', /* without numbers */
    MO_VARIABLE_ROLE_INCUMBENT = 'k',       /* the incumbent; without numbers */
    MO_VARIABLE_ROLE_FREE_PLACE = 'v',      /* op on device, not by k */
    MO_VARIABLE_ROLE_INCUMBENT_START = 'b', /* of an op, by k */
    MO_VARIABLE_ROLE_INCUMBENT_SEND = 'q',  /* of a transfer, by k */
    MO_VARIABLE_ROLE_IDENTITY = 'I' /* a name of its own: moirai_g_... */
} mo_variable_role;

typedef enum mo_variable_kind {
    MO_VARIABLE_CONTINUOUS,
    MO_VARIABLE_BINARY
} mo_variable_kind;

enum { MO_VARIABLE_NUMBERS = 4, MO_VARIABLE_NAME = 97 }; /* with the 0 */

typedef struct mo_variable {
    mo_variable_role role;
    int number[MO_VARIABLE_NUMBERS]; /* as many as the role has */
    const char *text; /* the name, for MO_VARIABLE_ROLE_IDENTITY; borrowed */
    mo_variable_kind kind;
    double lower, upper; /* of a continuous one; INFINITY: no upper bound */
    double value;        /* in the MIP start, where there is one */
} mo_variable;

/* Returns how many numbers a role has. */
int mo_variable_role_arity(mo_variable_role role);

/* Writes the name with a terminating 0 and returns its length. */
size_t mo_variable_name(const mo_variable *column, char name[MO_VARIABLE_NAME]);

#endif
