/* mcrun compile: a kernel as a cubin, the machine code of the GPUs that its target names. The driver's linker
   makes it where this machine has such a GPU, else ptxas does. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "problem.h"
#include "text/file.h"

extern char **environ;

typedef struct compile_options {
    problem_options problem;
    const char *out_file;
} compile_options;

static const cmd_option compile_table[] = {
    {"out", 'o', OPTION_TEXT, offsetof(compile_options, out_file), "FILE.cubin", 0, 0,
     "write the cubin here"},
};

/* -- By ptxas */

/* A file in memory, read from its beginning; -1: errno. */
static int text_descriptor(const char *text) {
    size_t size = strlen(text);
    int descriptor = memfd_create("ptx", 0);
    if (descriptor < 0) return -1;
    if (write(descriptor, text, size) == (ssize_t)size && lseek(descriptor, 0, SEEK_SET) == 0)
        return descriptor;
    close(descriptor);
    return -1;
}

/* Runs ptxas, which reads PTX and says on standard error what is wrong with it. Returns 0 or an errno;
   *EXIT_STATUS is that of waitpid. */
static int run_ptxas(const char *target, int ptx, const char *out, int *exit_status) {
    char arch[32], program[] = "ptxas", option[] = "-o", input[] = "-";
    char *out_word = strdup(out);
    posix_spawn_file_actions_t files;
    pid_t child = 0;
    snprintf(arch, sizeof arch, "-arch=%s", target);
    char *const words[] = {program, arch, option, out_word, input, NULL};
    int error = out_word ? posix_spawn_file_actions_init(&files) : ENOMEM;
    if (error == 0) {
        error = posix_spawn_file_actions_adddup2(&files, ptx, STDIN_FILENO);
        if (error == 0) error = posix_spawnp(&child, program, &files, NULL, words, environ);
        posix_spawn_file_actions_destroy(&files);
    }
    free(out_word);
    while (error == 0 && waitpid(child, exit_status, 0) < 0)
        if (errno != EINTR) error = errno;
    return error;
}

/* WHY the driver makes no cubin. */
static mc_status compile_into(const char *target, const char *why, int ptx, const char *path, mc_image *image,
                              mc_diag *diag) {
    int exit_status = 0;
    char *bytes = NULL;
    int error = run_ptxas(target, ptx, path, &exit_status);
    if (error == ENOENT)
        return mc_fail(diag, MC_CANNOT,
                       "compile: nothing here makes a cubin for %s: %s, and there is no ptxas on PATH",
                       target, why);
    if (error != 0) return mc_fail(diag, MC_IO, "ptxas: %s", strerror(error));
    if (exit_status != 0) return mc_fail(diag, MC_CANNOT, "ptxas failed on the kernel for %s", target);
    mc_status status = file_read(path, NULL, &bytes, &image->size, diag);
    image->data = bytes;
    return status;
}

/* ptxas writes to a file of its own, so that a failure leaves the one that was asked for as it was. */
static mc_status compile_by_ptxas(const char *target, const char *why, const char *ptx, mc_image *image,
                                  mc_diag *diag) {
    const char *folder = getenv("TMPDIR");
    char *path;
    mc_status status = MC_OK;
    if (asprintf(&path, "%s/mcrun-XXXXXX", folder && *folder ? folder : "/tmp") < 0)
        return mc_fail(diag, MC_NOMEM, "out of memory");
    int output = mkstemp(path), input = text_descriptor(ptx);
    if (output < 0) status = mc_fail(diag, MC_IO, "%s: %s", path, strerror(errno));
    else if (input < 0) status = mc_fail(diag, MC_IO, "compile: a file in memory: %s", strerror(errno));
    else status = compile_into(target, why, input, path, image, diag);
    if (input >= 0) close(input);
    if (output >= 0) {
        close(output);
        unlink(path);
    }
    free(path);
    return status;
}

/* -- The command */

/* Whether the driver compiles for TARGET: it does for the GPU alone, and a target names its capability. */
static bool is_gpu_of(mc_device *device, const char *target) {
    return device != NULL && mc_device_get_info(device)->capability == atoi(target + strlen("sm_"));
}

static mc_status compile(mc_device *device, const mc_kernel *kernel, mc_image *image, mc_diag *diag) {
    const char *target = mc_kernel_contract(kernel)->target, *ptx = mc_kernel_ptx(kernel);
    if (!is_gpu_of(device, target))
        return compile_by_ptxas(target, "device 0 is no GPU of that kind", ptx, image, diag);
    if (mc_ptx_exchanges_registers(ptx))
        return compile_by_ptxas(target, "the driver keeps what it makes of setmaxnreg to itself", ptx, image,
                                diag);
    return mc_device_compile(device, ptx, image, NULL, diag);
}

static mc_status write_image(const char *path, const mc_image *image, mc_diag *diag) {
    file_output output;
    mc_status status = file_open(path, &output, diag);
    if (status != MC_OK) return status;
    file_write(&output, image->data, image->size);
    return file_commit(&output, diag);
}

static mc_status make_kernel(const compile_options *options, const char *spec, mc_device *device,
                             mc_kernel **kernel, mc_diag *diag) {
    problem p;
    size_t variant;
    int capability = device != NULL ? mc_device_get_info(device)->capability : 0;
    mc_status status = problem_open(&p, spec, NULL, &options->problem, capability, diag);
    if (status == MC_OK) status = problem_variant(&p, &variant, diag);
    if (status == MC_OK) status = mc_kernel_generate(p.spec, variant, kernel, diag);
    problem_close(&p);
    return status;
}

static mc_status run(const compile_options *options, const char *spec, mc_diag *diag) {
    mc_device *device = NULL; /* stays NULL where there is no GPU, or none that works */
    mc_kernel *kernel = NULL;
    mc_image image = {0};
    if (mc_device_cuda_count() > 0) (void)mc_device_open("cuda:0", &device, NULL);
    mc_status status = make_kernel(options, spec, device, &kernel, diag);
    if (status == MC_OK) status = compile(device, kernel, &image, diag);
    if (status == MC_OK) status = write_image(options->out_file, &image, diag);
    if (status == MC_OK)
        printf("%s  %zu bytes for %s, entry %s\n", options->out_file, image.size,
               mc_kernel_contract(kernel)->target, mc_kernel_contract(kernel)->entry);
    mc_image_free(&image);
    mc_kernel_destroy(kernel);
    mc_device_close(device);
    return status;
}

static int compile_run(int argc, char **argv) {
    compile_options options = {0};
    char **operands;
    int exit_status;
    if (!cmd_parse(&cmd_compile, argc, argv, &options, &operands, &exit_status)) return exit_status;
    if (options.out_file == NULL || *options.out_file == '\0') return cmd_usage("compile: --out is missing");
    if (!cmd_is_spec_name(operands[0]) && file_is_same(operands[0], options.out_file))
        return cmd_usage("compile: --out %s would overwrite the spec", options.out_file);
    mc_diag *diag = mc_diag_create();
    return cmd_finish(run(&options, operands[0], diag), diag);
}

const cmd cmd_compile = {
    "compile",
    "SPEC",
    "writes a kernel as a cubin, made by the driver where the GPU is its target, else by "
    "ptxas",
    1,
    {{compile_table, sizeof compile_table / sizeof compile_table[0]},
     {problem_spec_table, PROBLEM_SPEC_OPTIONS}},
    compile_run};
