/* mcbench: measures generated kernels against the vendor's libraries, and makes tables and plots of what it
   saw. */
#include <stdio.h>
#include <string.h>
#include "commands.h"

const char cmd_program[] = "mcbench";

static const cmd *const commands[] = {&cmd_run, &cmd_summary, &cmd_plot, &cmd_fit};
enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

static int print_help(void) {
    printf("usage: mcbench COMMAND [arguments]\n\n");
    for (int i = 0; i < COMMAND_COUNT; i++) printf("  %-10s%s\n", commands[i]->name, commands[i]->summary);
    printf(
        "\nA SPEC is a path, or the name of a shipped spec, as spmm_l8r8 (mcgen --list-specs lists them).\n"
        "mcbench COMMAND --help tells a command's options; mcbench --version tells the version.\n"
        "\n"
        "  mcbench run spmm_l8r8 --matrices dlmc --out results.jsonl\n"
        "  mcbench summary results.jsonl\n"
        "  mcbench plot results.jsonl > results.svg\n"
        "  mcbench fit records.jsonl\n"
        "\n"
        "Exit status: 0 done, 1 impossible or failed, or a variant of ours was wrong, 2 wrong usage or "
        "spec.\n");
    return CMD_DONE;
}

static int run_command(int argc, char **argv) {
    if (argc < 2) return cmd_usage("wants a command (mcbench --help lists them)");
    if (strcmp(argv[1], "--help") == 0) return print_help();
    if (strcmp(argv[1], "--version") == 0) {
        printf("mcbench %s, generator %s\n", MC_VERSION, mc_generator_id());
        return CMD_DONE;
    }
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(argv[1], commands[i]->name) == 0) return commands[i]->run(argc - 1, argv + 1);
    return cmd_usage("unknown command '%s' (mcbench --help lists them)", argv[1]);
}

int main(int argc, char **argv) { return cmd_end(run_command(argc, argv)); }
