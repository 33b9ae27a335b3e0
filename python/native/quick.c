/* Quick: a plan's launch on tensors of known shapes, looked at by DLPack's exchange of C functions (DLPack
 * 1.3, "C Exchange API"), which tells of a tensor in some 40 ns. Whatever is not as expected is left to
 * Python. */
#include "call.h"

/* -- What DLPack's C interface lays down -------------------------------------------------------------- */

enum { DEVICE_CUDA = 2 };

typedef struct dl_tensor {
    void *data;
    int32_t device_type, device_id, dimensions;
    uint8_t code, bits;
    uint16_t lanes;
    int64_t *shape, *strides; /* strides NULL: rows without gaps */
    uint64_t byte_offset;
} dl_tensor;

typedef struct dl_exchange {
    uint32_t major, minor; /* of its version */
    struct dl_exchange *previous;
    void (*allocate)(void), (*from_object)(void), (*to_object)(void);
    int (*tensor_of)(void *object, dl_tensor *tensor); /* which stays the object's */
    int (*current_stream)(int device_type, int32_t device, void **stream);
} dl_exchange;

/* ------------------------------------------------------------------------------------------------------ */

enum { MAX_DIMENSIONS = 4 };

/* What a tensor must be. */
typedef struct form {
    uint8_t code, bits;
    int dimensions;
    int64_t shape[MAX_DIMENSIONS];
} form;

typedef struct quick {
    PyObject_HEAD launch *launch;
    const dl_exchange *exchange;
    int32_t device;
    Py_ssize_t given;          /* values that are handed over; behind them comes the output */
    form forms[MAX_ARGUMENTS]; /* of operands of the launch */
    int places[MAX_ARGUMENTS]; /* where an operand is among what is handed over */
} quick;

/* FORM is (code, bits, shape). */
static int take_form(form *f, PyObject *about) {
    PyObject *shape;
    int code, bits;
    if (!PyArg_ParseTuple(about, "iiO!", &code, &bits, &PyTuple_Type, &shape)) return -1;
    f->code = (uint8_t)code, f->bits = (uint8_t)bits, f->dimensions = (int)PyTuple_Size(shape);
    if (f->dimensions > MAX_DIMENSIONS) {
        PyErr_SetString(PyExc_ValueError, "too many dimensions");
        return -1;
    }
    for (int i = 0; i < f->dimensions; i++) f->shape[i] = PyLong_AsLongLong(PyTuple_GetItem(shape, i));
    return PyErr_Occurred() ? -1 : 0;
}

static int take_operands(quick *q, PyObject *places, PyObject *forms) {
    if (PyTuple_Size(places) != q->launch->count || PyTuple_Size(forms) != q->launch->count) {
        PyErr_SetString(PyExc_ValueError, "a place and a form are wanted for each operand");
        return -1;
    }
    for (Py_ssize_t i = 0; i < q->launch->count; i++) {
        q->places[i] = (int)PyLong_AsLong(PyTuple_GetItem(places, i));
        if (q->places[i] < 0 || q->places[i] > q->given) {
            PyErr_SetString(PyExc_ValueError, "a place past what is handed over");
            return -1;
        }
        if (!q->launch->by_value[i] && take_form(&q->forms[i], PyTuple_GetItem(forms, i)) != 0) return -1;
    }
    return 0;
}

static PyObject *quick_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    PyObject *taken, *capsule, *places, *forms;
    int device;
    Py_ssize_t given;
    (void)keywords;
    if (!PyArg_ParseTuple(args, "OOinO!O!", &taken, &capsule, &device, &given, &PyTuple_Type, &places,
                          &PyTuple_Type, &forms))
        return NULL;
    const dl_exchange *exchange = PyCapsule_GetPointer(capsule, "dlpack_exchange_api");
    if (exchange == NULL) return NULL;
    if (exchange->major != 1)
        return PyErr_Format(PyExc_ValueError, "DLPack %u is not known", exchange->major);
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    quick *q = (quick *)allocate(type, 0);
    if (q == NULL) return NULL;
    q->launch = (launch *)Py_NewRef(taken);
    q->exchange = exchange, q->device = device, q->given = given;
    if (take_operands(q, places, forms) == 0) return (PyObject *)q;
    Py_DECREF((PyObject *)q);
    return NULL;
}

static void quick_free(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    Py_XDECREF((PyObject *)((quick *)self)->launch);
    release(self);
    Py_DECREF((PyObject *)type);
}

static int fits(const quick *q, const form *f, const dl_tensor *tensor) {
    int64_t step = 1;
    if (tensor->device_type != DEVICE_CUDA || tensor->device_id != q->device || tensor->code != f->code ||
        tensor->bits != f->bits || tensor->lanes != 1 || tensor->dimensions != f->dimensions)
        return 0;
    for (int i = f->dimensions - 1; i >= 0; i--) {
        if (tensor->shape[i] != f->shape[i]) return 0;
        if (tensor->strides != NULL && f->shape[i] > 1 && tensor->strides[i] != step) return 0;
        step *= f->shape[i];
    }
    return 1;
}

/* 1: ARGUMENT is operand I, OBJECT. 0: OBJECT does not fit. */
static int take_operand(const quick *q, Py_ssize_t i, PyObject *object, mc_argument *argument) {
    dl_tensor tensor;
    *argument = q->launch->arguments[i];
    if (q->launch->by_value[i]) {
        argument->value = (float)PyFloat_AsDouble(object);
    } else if (q->exchange->tensor_of(object, &tensor) == 0 && fits(q, &q->forms[i], &tensor)) {
        argument->address = (mc_address)(uintptr_t)tensor.data + tensor.byte_offset;
        return 1;
    } else {
        PyErr_Clear();
        return 0;
    }
    if (!PyErr_Occurred()) return 1;
    PyErr_Clear();
    return 0;
}

static const char run_doc[] =
    "run(values, out): executes the plan on the current stream and returns True; False, and nothing was\n"
    "done, where a tensor is not what was expected. values is a tuple or a list.";

static PyObject *quick_run(PyObject *self, PyObject *const *arguments, Py_ssize_t count) {
    const quick *q = (const quick *)self;
    mc_argument list[MAX_ARGUMENTS];
    void *stream;
    if (count != 2) return PyErr_Format(PyExc_TypeError, "%zd arguments, must be 2", count);
    if (PySequence_Size(arguments[0]) != q->given) return Py_NewRef(Py_False);
    for (Py_ssize_t i = 0; i < q->launch->count; i++) {
        PyObject *object = q->places[i] == q->given ? Py_NewRef(arguments[1])
                                                    : PySequence_GetItem(arguments[0], q->places[i]);
        if (object == NULL) return NULL;
        int taken = take_operand(q, i, object, &list[i]);
        Py_DECREF(object);
        if (!taken) return Py_NewRef(Py_False);
    }
    if (q->exchange->current_stream(DEVICE_CUDA, q->device, &stream) != 0) {
        PyErr_Clear();
        return Py_NewRef(Py_False);
    }
    return launch_execute(q->launch, list, 0, stream) == 0 ? Py_NewRef(Py_True) : NULL;
}

static PyMethodDef methods[] = {{"run", (PyCFunction)(void (*)(void))quick_run, METH_FASTCALL, run_doc},
                                {NULL, NULL, 0, NULL}};

static const char quick_doc[] = "Quick(launch, capsule, device, given, places, forms): a Launch on tensors "
                                "of the GPU DEVICE, which DLPack's CAPSULE\n"
                                "tells of. GIVEN values are handed over, and an output behind them; of each "
                                "operand of the launch PLACES says which\n"
                                "of these it is, FORMS what tensor (DLPack's code, bits, shape).";

static PyType_Slot slots[] = {{Py_tp_new, quick_new},
                              {Py_tp_dealloc, quick_free},
                              {Py_tp_methods, methods},
                              {Py_tp_doc, (void *)(uintptr_t)quick_doc},
                              {0, NULL}};
static PyType_Spec spec = {
    .name = "mcgen._call.Quick", .basicsize = sizeof(quick), .flags = Py_TPFLAGS_DEFAULT, .slots = slots};

int quick_add(PyObject *module) {
    PyObject *type = PyType_FromSpec(&spec);
    int failed = type == NULL || PyModule_AddObjectRef(module, "Quick", type) != 0;
    Py_XDECREF(type);
    return failed ? -1 : 0;
}
