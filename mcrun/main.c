/* mcrun: runs generated kernels, and makes and looks at what they run on. */
#include <stdio.h>
#include <string.h>
#include "product.h"

const char cmd_program[] = "mcrun";

/* Behind those of the operators. */
static const cmd *const commands[] = {&cmd_pack,    &cmd_compile,    &cmd_prune,       &cmd_compress,
                                      &cmd_devices, &cmd_matrix_gen, &cmd_matrix_info, &cmd_cache,
                                      &cmd_records, &cmd_tune,       &cmd_plan};
enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

static int print_help(void) {
    const cmd *product;
    printf("usage: mcrun COMMAND [arguments]\n\n");
    for (size_t i = 0; (product = product_command(i)) != NULL; i++)
        printf("  %-14s%s\n", product->name, product->summary);
    for (int i = 0; i < COMMAND_COUNT; i++) printf("  %-14s%s\n", commands[i]->name, commands[i]->summary);
    printf(
        "\nA SPEC is a path, or the name of a shipped spec, as spmm_l8r8 (mcgen --list-specs lists them).\n"
        "With --json a command that has no result prints {\"error\": what is wrong}.\n"
        "mcrun COMMAND --help tells a command's options; mcrun --version tells the version.\n"
        "Exit status: 0 done and exact, 1 impossible, failed or wrong, 2 wrong usage or spec.\n");
    return CMD_DONE;
}

static int run_command(int argc, char **argv);

/* "help" alone, or the help of a command. */
static int help_command(int argc, char **argv) {
    static char option[] = "--help";
    char *words[] = {argv[0], argc > 2 ? argv[2] : NULL, option, NULL};
    return argc > 2 ? run_command(3, words) : print_help();
}

static int run_command(int argc, char **argv) {
    if (argc < 2) return cmd_usage("wants a command (mcrun --help lists them)");
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) return print_help();
    if (strcmp(argv[1], "help") == 0) return help_command(argc, argv);
    if (strcmp(argv[1], "--version") == 0) {
        printf("mcrun %s, generator %s\n", MC_VERSION, mc_generator_id());
        return CMD_DONE;
    }
    const cmd *product;
    for (size_t i = 0; (product = product_command(i)) != NULL; i++)
        if (strcmp(argv[1], product->name) == 0) return product_run(product, argc - 1, argv + 1);
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(argv[1], commands[i]->name) == 0) return commands[i]->run(argc - 1, argv + 1);
    if (strcmp(argv[1], cmd_tune_worker.name) == 0) return cmd_tune_worker.run(argc - 1, argv + 1);
    return cmd_usage("unknown command '%s' (mcrun --help lists them)", argv[1]);
}

int main(int argc, char **argv) { return cmd_end(run_command(argc, argv)); }
