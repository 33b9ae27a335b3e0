/* The subcommands of mcbench. */
#ifndef BENCH_COMMANDS_H
#define BENCH_COMMANDS_H

#include "mcrun/options.h"

extern const cmd cmd_run, cmd_fit, cmd_summary, cmd_plot;

#endif
