/* Items of sampled-list and sampled-windows, between the files that pack and unpack them. */
#ifndef MCRT_SAMPLED_ITEMS_H
#define MCRT_SAMPLED_ITEMS_H

#include "formats/sampled.h"
#include "formats/stride.h"
#include "parts/fragment.h"

/* Four elements of the array items. The kernel finds 0 in the last one; while the list is made it holds the
   item's window. */
typedef struct sampled_entry {
    int32_t block, first, count, window;
} sampled_entry;

enum { SAMPLED_ITEM_FIELDS = sizeof(sampled_entry) / sizeof(int32_t) };

typedef struct sampled_plan {
    const mc_vsparse *mask;
    const mc_sampled *form;
    int64_t *start; /* order_starts */
} sampled_plan;

static inline int64_t sampled_item_slots(const mc_sampled *form) {
    return (int64_t)form->groups * MC_SAMPLED_SLOTS;
}
/* Where the index of SLOT stands. */
static inline int sampled_list_place(const mc_sampled *form, int slot) {
    return sampled_run_place(slot, form->groups, form->run > 1 ? form->run : 1);
}
static inline int64_t sampled_windows(const mc_sampled *form, int64_t cols) {
    return cols / form->window + (cols % form->window != 0);
}

mc_status sampled_check_form(const mc_sampled *form, mc_diag *diag);
/* Checks MASK and FORM. The caller frees p->start, also after a failure. */
mc_status sampled_plan_open(sampled_plan *p, const mc_vsparse *mask, const mc_sampled *form, mc_diag *diag);
/* Adds the arrays of the pattern to PACKED, which the caller frees. */
mc_status sampled_put_pattern(const sampled_plan *p, mc_packed *packed, mc_diag *diag);
/* Elements of C. */
int64_t sampled_value_count(const sampled_plan *p);

#endif
