/* The family `optimise`: schema, hints, its one solver. */
#include "ops/optimise/optimise.h"
#include "ops/optimise/costs.h"

static const mc_field fields[] = {
    {"op", WORDS("optimise"), .doc = "The kernel family."},
    ARCH_FIELD,
    {"rule", NAMES = optimise_rule_names,
     .doc = "sgd: with momentum. nesterov: SGD with Nesterov's momentum. adam: weight decay goes into the "
            "gradient. adamw: it is decoupled, and takes off the weight."},
    {"lhs", NAMES = optimise_real_names, .doc = "Type of the gradient's elements."},
    {"out", NAMES = optimise_real_names, .doc = "Type of the weight's elements."},
    {"master", SWITCH, .quiet = true,
     .doc = "on: the step is done on a copy of the weight in f32, and the weight is that copy, rounded."},
    {"unit", COUNTS(4, 8), .standard = 4, .tunable = true,
     .doc = "Neighbouring elements that a thread takes at once: 8 or 16 bytes of halves, one or two loads of "
            "16 bytes of f32."},
    {"hold", COUNTS(1, 2, 4), .standard = 2, .tunable = true,
     .doc = "Units that a thread has in registers at a time; it asks for all of them first."},
    {"warps", COUNTS(4, 8, 16), .standard = 8, .tunable = true, .doc = "Warps of a thread block."},
    {"blocks", COUNTS(1, 2, 3, 4, 6, 8, 16), .standard = 4, .tunable = true,
     .doc = "Thread blocks for each multiprocessor, which take their elements in turn. More than it holds at "
            "once, by their registers, wait for the others."},
    {"align", NUMBERS = family_aligns, .standard = 16,
     .doc = "Bytes that addresses are promised to be multiples of; at least an element's. Of 1 and 4 the "
            "kernel looks at them, and takes an element at a time where one is no multiple of 16."},
    {"m", SHAPE, .doc = "Rows."},
    {"n", SHAPE, .doc = "Columns; rows have no gaps."},
};
SCHEMA_FITS(fields, F_N);

static const mc_hint hints[] = {
    {" optimizer optimiser algorithm algo kind ", "rule says which: rule = \"adamw\""},
    {" grad grad_type gradient dtype type g_type ", "lhs is the type of the gradient: lhs = \"f16\""},
    {" weight weight_type param param_type out_type w_type ", "out is the type of the weight: out = \"f16\""},
    {" master_weights master_copy fp32_master ", "master = \"on\" is a copy in f32"},
    {" amsgrad maximize dampening ", "there are no kernels with amsgrad, maximize or dampening"},
    {" lr learning_rate beta1 beta2 betas eps epsilon momentum weight_decay ",
     "hyperparameters come with each execution, as the operand hyper (docs/optimise.md)"},
    {" num_warps nwarps threads block_size ", "a thread block has 32 threads a warp: set warps"},
    {0},
};

static const char *how(const void *data) {
    (void)data;
    return "Thread blocks take the elements in turn, in loads and stores of up to 16 bytes.";
}

static const mc_solver turns = {.name = "turns",
                                .plan = optimise_make_plan,
                                .contract = optimise_contract,
                                .facts = optimise_facts,
                                .emit = optimise_emit,
                                .estimate = optimise_estimate,
                                .entry_name = optimise_entry_name,
                                .computes = optimise_computes,
                                .how = how};

static const mc_solver *solver(const int64_t *point) {
    (void)point;
    return &turns;
}

const mc_family mc_family_optimise = {
    .name = "optimise",
    .summary = "an optimiser's step in place: SGD with momentum, Adam, AdamW",
    .computes = "W = W - rate * d, element by element, with d of the gradient and the moments, all in place.",
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields,
    .solver = solver,
    .chooser = F_RULE,
    .hints = hints,
    .costs = &optimise_cost_table};
