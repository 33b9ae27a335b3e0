/* What an optimiser's step is asked for and what its numbers are: one text for generator, runtime and callers
   (docs/optimise.md). */
#ifndef MC_OPTIMISE_H
#define MC_OPTIMISE_H

/* SGD with momentum; with Nesterov's; Adam, whose weight decay goes into the gradient; with decoupled one. */
typedef enum mc_rule { MC_RULE_SGD, MC_RULE_NESTEROV, MC_RULE_ADAM, MC_RULE_ADAMW } mc_rule;

/* Their words in specs, records and messages. */
#define MC_RULE_WORDS                                                                                        \
    {"sgd", MC_RULE_SGD}, {"nesterov", MC_RULE_NESTEROV}, {"adam", MC_RULE_ADAM}, { "adamw", MC_RULE_ADAMW }

/* The numbers' places in the operand "hyper", an f32 array of MC_HYPERS on the device. SGD reads the first
   four. */
typedef enum mc_hyper {
    MC_HYPER_RATE,     /* the learning rate */
    MC_HYPER_DECAY,    /* weight decay */
    MC_HYPER_UNSCALE,  /* what gradients are multiplied by first: 1 / loss scale */
    MC_HYPER_MOMENTUM, /* SGD's momentum; Adam's beta1 */
    MC_HYPER_BETA2,
    MC_HYPER_EPSILON,
    MC_HYPER_CORRECT1, /* 1 / (1 - beta1^t) in step t, counted from 1 */
    MC_HYPER_CORRECT2, /* 1 / (1 - beta2^t) */
    MC_HYPERS
} mc_hyper;

#endif
