/* What the two types of mcgen._call share. */
#ifndef MCGEN_CALL_H
#define MCGEN_CALL_H

#define Py_LIMITED_API 0x030a0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <string.h>
#include "mcrt.h"

enum { MAX_ARGUMENTS = 16 };

/* Where libmcrt's functions are. */
typedef struct functions {
    mc_status (*execute)(const mc_plan *, const mc_args *, mc_address, void *, mc_diag *);
    mc_diag *(*diag_create)(void);
    void (*diag_destroy)(mc_diag *);
    const char *(*diag_text)(const mc_diag *);
} functions;

/* One plan's launch: its operands by name, some an address and some a value. */
typedef struct launch {
    PyObject_HEAD functions call;
    const mc_plan *plan;
    PyObject *owner;  /* of the plan, which lives as long as it */
    PyObject *error;  /* what is raised, with the status and the message */
    Py_ssize_t count; /* of operands */
    mc_argument arguments[MAX_ARGUMENTS];
    char names[MAX_ARGUMENTS][16];
    char by_value[MAX_ARGUMENTS];
} launch;

/* Puts one execution with LIST, an argument for each operand, on STREAM. -1: an exception is set. */
int launch_execute(const launch *l, const mc_argument *list, mc_address workspace, void *stream);

/* Adds the type Quick to MODULE. -1: an exception is set. */
int quick_add(PyObject *module);

#endif
