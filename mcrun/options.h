/* What the subcommands of mcrun and mcbench share: tables of options, strict parsing, and how they end. */
#ifndef MCRUN_OPTIONS_H
#define MCRUN_OPTIONS_H

#include <jansson.h>
#include "mcrt_internal.h"

enum { CMD_DONE = 0, CMD_FAILED = 1, CMD_USAGE = 2 }; /* exit statuses */

enum { CMD_MAX_SETTINGS = 32 };

typedef struct cmd_settings {
    mc_setting items[CMD_MAX_SETTINGS];
    size_t count;
} cmd_settings;

/* What an option's value is, and the type of the member that it goes to. */
typedef enum cmd_option_kind {
    OPTION_SWITCH,  /* bool: no value */
    OPTION_TEXT,    /* const char * */
    OPTION_INTEGER, /* int64_t, LEAST to MOST */
    OPTION_SIZE,    /* int64_t, LEAST to MOST; K, M or G behind it multiply by 2^10, 2^20, 2^30 */
    OPTION_REAL,    /* double, LEAST to MOST */
    OPTION_CHOICE,  /* int: place, from 1, among the words of ARGUMENT, "uniform|realistic" */
    OPTION_SETTING, /* cmd_settings: --vec 8 adds the setting vec=8 */
    OPTION_ASSIGN,  /* cmd_settings: --set vec=8 does, too */
    OPTION_WORD     /* no option: a word that the command's first operand can be (cmd_word), for its help */
} cmd_option_kind;

typedef struct cmd_option {
    const char *name;
    char letter; /* 0: none */
    cmd_option_kind kind;
    size_t offset; /* of the member in the command's struct of options */
    const char *argument;
    int64_t least, most;
    const char *help;
} cmd_option;

typedef struct cmd_option_table {
    const cmd_option *rows;
    size_t count;
} cmd_option_table;

enum { CMD_MAX_TABLES = 5, CMD_ANY_COUNT = INT32_MIN };

typedef struct cmd {
    const char *name, *operands, *summary;
    int operand_count;                        /* -N: N or more, or CMD_ANY_COUNT; the operands end in NULL */
    cmd_option_table options[CMD_MAX_TABLES]; /* its own, and those that it shares with others */
    int (*run)(int argc, char **argv);        /* the exit status */
} cmd;

extern const char cmd_program[]; /* "mcrun": the program defines it */
extern const cmd cmd_pack, cmd_compile, cmd_prune, cmd_compress, cmd_devices, cmd_matrix_gen, cmd_matrix_info,
    cmd_cache, cmd_records, cmd_tune, cmd_plan;
extern const cmd cmd_tune_worker; /* not for people: no help lists it */

/* Reads ARGV by the command's table into OPTIONS, which holds the defaults, and points *OPERANDS at the
   operands. False: the command is over with *EXIT_STATUS, after --help or a reported error. A setting's
   text points into ARGV, which is changed. */
bool cmd_parse(const cmd *command, int argc, char **argv, void *options, char ***operands, int *exit_status);

/* The place, from 0, of TEXT among the command's words; -1 after a reported error. */
int cmd_word(const cmd *command, const char *text);

/* Whether what is written to OUT would replace what is read at PATH: the file itself, that which a tensor is
   named in, or one of a directory. */
bool cmd_reads(const char *path, const char *out);

/* Whether what is read at PATH lies right in DIRECTORY. */
bool cmd_is_in(const char *path, const char *directory);

/* Whether WORD is the name of a shipped spec; whether it is that or a file .lua. */
bool cmd_is_spec_name(const char *word);
bool cmd_is_spec(const char *word);
/* Whether LEVEL is to be shown: notes are, details where MCGEN_LOG is "detail". */
bool cmd_logs(mc_log_level level);
/* mc_context_config.log: what is to be shown, on stderr, as lines of the program. */
void cmd_log(void *user, mc_log_level level, const char *message);
/* MC_CANNOT: neither options nor the environment say where records are. */
mc_status cmd_no_records(mc_diag *diag);
/* The program, ": " and the message on stderr; CMD_USAGE. */
int cmd_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints JSON on stdout as the command's whole result, and drops it. MC_NOMEM where it is NULL. */
mc_status cmd_print_json(json_t *json, mc_diag *diag);

/* The end of main: what is still to be written is, and a result that nobody could read is no success. A
   command with --json that failed without a result prints {"error": what it said on stderr}. Returns the exit
   status. */
int cmd_end(int exit_status);

/* Prints DIAG's messages where STATUS is not MC_OK, destroys DIAG, and returns the exit status. */
int cmd_finish(mc_status status, mc_diag *diag);

#endif
