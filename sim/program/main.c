/* ptxsim: runs PTX on the simulator, from the command line. */
#include "program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int print_help(void) {
    printf("usage: ptxsim COMMAND [arguments]\n\n"
           "  run           runs an entry of a file of PTX\n"
           "  check         loads a file of PTX and says what the simulator does not take\n"
           "\nptxsim COMMAND --help tells a command's options; ptxsim --version tells the version.\n"
           "Exit status: 0 done, 1 a fault, or PTX that does not load, or a file that cannot be read or "
           "written, "
           "2 wrong usage.\n");
    return STATUS_DONE;
}

/* The entry to run; NULL after an error. */
static const ptxsim_function *find_entry(ptxsim *sim, const ptxsim_module *module, const struct options *o) {
    const ptxsim_function *function = NULL;
    const char *name = o->entry ? o->entry : ptxsim_module_entry(module, 0);
    if (!name) complain("%s: no entry", o->file);
    else if (!o->entry && ptxsim_module_entry(module, 1))
        complain("%s has several entries: --entry says which", o->file);
    else if (ptxsim_module_function(sim, module, name, &function) != PTXSIM_OK)
        complain("%s: %s", o->file, ptxsim_fault_text(sim));
    return function;
}

/* Launches FUNCTION with the values, and looks at what it made of them. */
static int launch(ptxsim *sim, const struct options *o, const ptxsim_function *function, const char *text,
                  struct argument *arguments) {
    void *params[MAX_ARGS + 1] = {NULL};
    for (int i = 0; i < o->arg_count; i++) params[i] = arguments[i].value;
    if (ptxsim_launch(sim, function, o->grid, o->block, (size_t)o->shared, params) != PTXSIM_OK) {
        bool shape = ptxsim_fault_of(sim)->status == PTXSIM_INVALID;
        report_fault(sim, o->file, text);
        return shape ? STATUS_USAGE : STATUS_FAILED;
    }
    bool done = true;
    for (int i = 0; done && i < o->arg_count; i++) done = argument_finish(sim, &arguments[i]);
    if (done && o->counts) report_counts(sim, text);
    return done && fflush(stdout) == 0 ? STATUS_DONE : STATUS_FAILED;
}

static int run_function(ptxsim *sim, const struct options *o, const ptxsim_function *function,
                        const char *text) {
    struct argument arguments[MAX_ARGS];
    size_t sizes[MAX_ARGS], wanted = ptxsim_function_params(function, sizes, MAX_ARGS);
    int made = 0, status = STATUS_USAGE;
    if (wanted != (size_t)o->arg_count) {
        complain("the entry has %zu parameters, and there are %d --arg", wanted, o->arg_count);
        return STATUS_USAGE;
    }
    while (made < o->arg_count && argument_make(sim, o->arg[made], sizes[made], &arguments[made])) made++;
    if (made == o->arg_count) status = launch(sim, o, function, text, arguments);
    else if (arguments[made].unreadable) status = STATUS_FAILED;
    for (int i = 0; i < made; i++) argument_free(&arguments[i]);
    return status;
}

static int run_text(ptxsim *sim, const struct options *o, const char *text, bool check) {
    ptxsim_module *module;
    if (ptxsim_module_load(sim, text, &module) != PTXSIM_OK) {
        report_fault(sim, o->file, text);
        return STATUS_FAILED;
    }
    if (!check) {
        const ptxsim_function *function = find_entry(sim, module, o);
        return function ? run_function(sim, o, function, text) : STATUS_USAGE;
    }
    const char *name;
    for (size_t i = 0; (name = ptxsim_module_entry(module, i)) != NULL; i++) printf("%s\n", name);
    return STATUS_DONE;
}

static int run_file(const struct options *o, bool check) {
    ptxsim_options options = {.size = sizeof options,
                              .order = o->order,
                              .max_instructions = o->limit,
                              .seed = o->seed,
                              .threads = (unsigned)o->threads,
                              .no_races = o->no_races,
                              .landing = o->landing};
    size_t bytes;
    ptxsim *sim = NULL;
    char *text = file_read(o->file, &bytes);
    int status = STATUS_FAILED;
    if (text && strlen(text) != bytes) complain("%s: not text", o->file);
    else if (text && ptxsim_create(&options, &sim) != PTXSIM_OK) complain("out of memory");
    else if (text) status = run_text(sim, o, text, check);
    ptxsim_destroy(sim);
    free(text);
    return status;
}

int main(int argc, char **argv) {
    struct options o;
    const char *command = argc > 1 ? argv[1] : "";
    bool check = strcmp(command, "check") == 0;
    if (strcmp(command, "--help") == 0 || strcmp(command, "-h") == 0 || strcmp(command, "help") == 0)
        return print_help();
    if (strcmp(command, "--version") == 0) {
        printf("ptxsim %s\n", PTXSIM_VERSION);
        return STATUS_DONE;
    }
    if (!check && strcmp(command, "run") != 0) {
        complain(*command ? "unknown command '%s' (ptxsim --help lists them)"
                          : "wants a command (ptxsim --help lists them)%s",
                 command);
        return STATUS_USAGE;
    }
    if (!options_parse(argc, argv, check, &o)) return STATUS_USAGE;
    if (!o.help) return run_file(&o, check);
    options_help(check);
    return STATUS_DONE;
}
