/* The module mcgen._call: mc_execute with little host time. All else of libmcrt is called by ctypes; this is
 * what a training step or a decoded token calls a thousand times. It links with nothing: Launch is handed the
 * addresses of libmcrt's functions. Built against Python's stable ABI of 3.10. quick.c is the second type,
 * Quick. */
#include "call.h"

_Static_assert(sizeof(functions) == 4 * sizeof(unsigned long long), "an address is a number of 64 bits");

static int take_name(launch *l, Py_ssize_t i, PyObject *pair) {
    const char *name;
    int by_value;
    if (!PyArg_ParseTuple(pair, "sp", &name, &by_value)) return -1;
    if (strlen(name) >= sizeof l->names[i]) {
        PyErr_Format(PyExc_ValueError, "'%s' is too long for an operand", name);
        return -1;
    }
    strcpy(l->names[i], name);
    l->arguments[i].name = l->names[i];
    l->by_value[i] = (char)by_value;
    return 0;
}

static int take_names(launch *l, PyObject *names) {
    l->count = PyTuple_Size(names);
    if (l->count < 0) return -1;
    if (l->count > MAX_ARGUMENTS) {
        PyErr_Format(PyExc_ValueError, "%zd operands, %d at most", l->count, (int)MAX_ARGUMENTS);
        return -1;
    }
    for (Py_ssize_t i = 0; i < l->count; i++)
        if (take_name(l, i, PyTuple_GetItem(names, i)) != 0) return -1;
    return 0;
}

static PyObject *launch_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    unsigned long long execute, create, destroy, text, plan;
    PyObject *owner, *error, *names;
    (void)keywords;
    if (!PyArg_ParseTuple(args, "(KKKK)KOOO!", &execute, &create, &destroy, &text, &plan, &owner, &error,
                          &PyTuple_Type, &names))
        return NULL;
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    launch *l = (launch *)allocate(type, 0);
    if (l == NULL) return NULL;
    const unsigned long long found[] = {execute, create, destroy, text};
    memcpy(&l->call, found, sizeof found);
    l->plan = (const mc_plan *)(uintptr_t)plan;
    l->owner = Py_NewRef(owner), l->error = Py_NewRef(error);
    if (take_names(l, names) == 0) return (PyObject *)l;
    Py_DECREF((PyObject *)l);
    return NULL;
}

static void launch_free(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    Py_XDECREF(((launch *)self)->owner);
    Py_XDECREF(((launch *)self)->error);
    release(self);
    Py_DECREF((PyObject *)type);
}

static void raise(const launch *l, mc_status status, const mc_diag *diag) {
    PyObject *error = PyObject_CallFunction(l->error, "is", (int)status, l->call.diag_text(diag));
    if (error != NULL) PyErr_SetObject((PyObject *)Py_TYPE(error), error);
    Py_XDECREF(error);
}

int launch_execute(const launch *l, const mc_argument *list, mc_address workspace, void *stream) {
    const mc_args args = {.size = sizeof args, .list = list, .list_count = (size_t)l->count};
    mc_diag *diag = l->call.diag_create();
    PyThreadState *others = PyEval_SaveThread(); /* they may run meanwhile */
    mc_status status = l->call.execute(l->plan, &args, workspace, stream, diag);
    PyEval_RestoreThread(others);
    if (status != MC_OK) raise(l, status, diag);
    l->call.diag_destroy(diag);
    return status == MC_OK ? 0 : -1;
}

/* Errors are told by PyErr_Occurred. */
static mc_argument argument_of(const launch *l, Py_ssize_t i, PyObject *given) {
    mc_argument argument = l->arguments[i];
    if (l->by_value[i]) argument.value = (float)PyFloat_AsDouble(given);
    else argument.address = PyLong_AsUnsignedLongLong(given);
    return argument;
}

static const char run_doc[] =
    "run(operand..., workspace, stream): puts one execution on the stream. Operands are\n"
    "addresses, those by value floats, in the order of the names.";

static PyObject *launch_run(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    const launch *l = (const launch *)self;
    mc_argument list[MAX_ARGUMENTS];
    if (count != l->count + 2)
        return PyErr_Format(PyExc_TypeError, "%zd arguments, must be %zd", count, l->count + 2);
    for (Py_ssize_t i = 0; i < l->count; i++) list[i] = argument_of(l, i, given[i]);
    mc_address workspace = PyLong_AsUnsignedLongLong(given[l->count]);
    void *stream = (void *)(uintptr_t)PyLong_AsUnsignedLongLong(given[l->count + 1]);
    if (PyErr_Occurred()) return NULL;
    return launch_execute(l, list, workspace, stream) == 0 ? Py_NewRef(Py_None) : NULL;
}

static PyMethodDef methods[] = {{"run", (PyCFunction)(void (*)(void))launch_run, METH_FASTCALL, run_doc},
                                {NULL, NULL, 0, NULL}};

static const char launch_doc[] = "Launch((mc_execute, mc_diag_create, mc_diag_destroy, mc_diag_text), plan, "
                                 "owner, error, ((name, by_value), "
                                 "...)):\n"
                                 "executions of a plan. All but owner and error are addresses; owner keeps "
                                 "the plan; error(status, message) makes what is raised.";

static PyType_Slot slots[] = {{Py_tp_new, launch_new},
                              {Py_tp_dealloc, launch_free},
                              {Py_tp_methods, methods},
                              {Py_tp_doc, (void *)(uintptr_t)launch_doc},
                              {0, NULL}};
static PyType_Spec spec = {
    .name = "mcgen._call.Launch", .basicsize = sizeof(launch), .flags = Py_TPFLAGS_DEFAULT, .slots = slots};

static int fill_module(PyObject *module) {
    PyObject *type = PyType_FromSpec(&spec);
    int failed = type == NULL || PyModule_AddObjectRef(module, "Launch", type) != 0;
    Py_XDECREF(type);
    return failed || quick_add(module) != 0 ? -1 : 0;
}

static PyModuleDef_Slot module_slots[] = {{Py_mod_exec, (void *)fill_module}, {0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, .m_name = "mcgen._call",
                                    .m_doc = "Executions of plans with little host time.",
                                    .m_slots = module_slots};

PyMODINIT_FUNC PyInit__call(void) { return PyModuleDef_Init(&module); }
