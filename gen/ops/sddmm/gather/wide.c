/* The wide path of the gather SDDMM: rows of A and columns of B in loads of 16 bytes, a panel of k at a time.
 *
 * A panel of A stays where it is (lhs.c) for all groups. Each group's columns of B are loaded, multiplied and
 * forgotten, while those of the next groups are on their way. Where one panel is all of k, a group is stored
 * as soon as it is multiplied. */
#include "ops/sddmm/gather/gather.h"
#include "parts/words.h"

/* Columns of B: [buffer][set], the mma's rows g and g + 8, [load][word]; of a row-major B values. */
typedef mc_reg column_buffers[GATHER_MAX_BUFFERS][GATHER_MAX_ABREAST][2][SDDMM_MAX_ROW];

typedef struct panel {
    gather_lhs lhs; /* A */
    mc_reg b_at;    /* this lane's first unit of column 0 of B */
    mc_reg k, left; /* k: that unit's first k, of a row-major B; left: how many k there are from there on */
    mc_reg b_left;  /* the same as left, for the lane's unit of a line of B */
    column_buffers row;
    mc_reg joined[2][SDDMM_MAX_ROW];   /* the words that values of a row-major B become */
    mc_reg inside[SDDMM_MAX_CHUNKS];   /* whether A's unit of the chunk lies before k; none where all do */
    mc_reg b_inside[SDDMM_MAX_CHUNKS]; /* the same of B's loads */
    mc_reg ahead[SDDMM_MAX_CHUNKS];    /* prefetch_lhs: the same of the next panel of A */
    mc_reg address;                    /* scratch */
} panel;

static const sddmm_arithmetic *arithmetic(const gather_emitter *e) { return &e->plan->problem.arithmetic; }
static bool is_rows(const gather_emitter *e) { return e->plan->problem.layout == SDDMM_ROWS; }

/* -- Start -------------------------------------------------------------------------------------------- */

/* Whether a lane's unit of chunk CHUNK can lie beyond k. */
static bool is_guarded(const gather_plan *plan, int chunk) {
    return plan->guard_units && (plan->loops || chunk == plan->items.chunks - 1);
}

/* Sets to zero what load LOAD brings, in all buffers. */
static void emit_zero_load(gather_emitter *e, panel *p, int load) {
    int regs = gather_chunk_regs(e->plan);
    for (int buffer = 0; buffer < e->plan->buffers; buffer++)
        for (int row = 0; row < 2 * e->plan->abreast; row++)
            sddmm_emit_zero(e->b, &p->row[buffer][row / 2][row % 2][regs * load], regs);
}

/* Declares the guards. Where a guard can keep a unit of B from being loaded, its registers start with zeros.
   Later they keep old values, which meet zeros of A. */
static void declare_guards(gather_emitter *e, panel *p) {
    mc_builder *b = e->b;
    const gather_plan *plan = e->plan;
    mc_reg guards[SDDMM_MAX_CHUNKS], b_guards[SDDMM_MAX_CHUNKS];
    int chunks = plan->items.chunks;
    if (!plan->guard_units) return;
    pred_array(b, "inside", chunks, guards);
    if (plan->abreast > 1) pred_array(b, "b_inside", gather_loads(plan), b_guards);
    bool rows = is_rows(e), real = arithmetic(e)->kind->real;
    if (!real) note(b, "a unit beyond k is not loaded: what stands there in its place meets zeros of A");
    for (int chunk = 0; chunk < chunks; chunk++)
        if (is_guarded(plan, chunk)) p->inside[chunk] = guards[chunk];
    for (int load = 0; load < gather_loads(plan); load++) {
        if (!is_guarded(plan, gather_last_chunk(plan, load))) continue;
        p->b_inside[load] = (plan->abreast > 1 ? b_guards : guards)[load];
        if (!real || rows) emit_zero_load(e, p, load);
    }
}

/* Declares `ahead`: one predicate for all chunks, unless k can end within the panel. */
static void declare_ahead(gather_emitter *e, panel *p) {
    int chunks = e->plan->items.chunks, count = e->plan->guard_units ? chunks : 1;
    pred_array(e->b, "ahead", count, p->ahead);
    for (int chunk = count; chunk < chunks; chunk++) p->ahead[chunk] = p->ahead[0];
}

static void declare_buffers(gather_emitter *e, column_buffers row) {
    static const char *const names[GATHER_MAX_BUFFERS][GATHER_MAX_ABREAST][2] = {
        {{"x", "y"}, {"x_high", "y_high"}},
        {{"next_x", "next_y"}, {"next_x_high", "next_y_high"}},
        {{"third_x", "third_y"}, {"third_x_high", "third_y_high"}},
        {{"fourth_x", "fourth_y"}, {"fourth_x_high", "fourth_y_high"}}};
    int words = gather_chunk_regs(e->plan) * gather_loads(e->plan);
    for (int i = 0; i < e->plan->buffers; i++)
        for (int set = 0; set < e->plan->abreast; set++)
            for (int half = 0; half < 2; half++)
                b32_array(e->b, names[i][set][half], words, row[i][set][half]);
}

static void declare_panel(gather_emitter *e, panel *p) {
    mc_builder *b = e->b;
    int words = arithmetic(e)->b_words * e->plan->items.chunks;
    gather_declare_lhs(e, &p->lhs);
    declare_buffers(e, p->row);
    if (is_rows(e)) {
        b32_array(b, "joined_x", words, p->joined[0]);
        b32_array(b, "joined_y", words, p->joined[1]);
    } else p->address = b64(b, "address");
    gather_declare_chains(e);
    declare_guards(e, p);
    if (e->plan->prefetch_lhs) declare_ahead(e, p);
}

/* Returns how many k there are from UNIT's first on. */
static mc_reg emit_left(const gather_emitter *e, const char *name, mc_reg unit) {
    mc_reg left = b32(e->b, name);
    EMIT(e->b, mad_s32, left, unit, I(-arithmetic(e)->unit_k), dim_operand(e->plan->problem.k, e->k));
    return left;
}

static void emit_start(gather_emitter *e, panel *p) {
    mc_builder *b = e->b;
    const sddmm_arithmetic *a = arithmetic(e);
    mc_reg t = e->place.t;
    note(b, "lane t: units of %d k, at %d t", a->unit_k, a->unit_k);
    for (int octet = 0; octet < sddmm_octets(&e->plan->problem); octet++) {
        p->lhs.at[octet] = b64(b, octet ? "a_at_below" : "a_at");
        EMIT(b, mad_wide, p->lhs.at[octet], t, I(values_bytes(a->lhs, a->unit_k)), e->a_row[octet]);
    }
    if (is_rows(e)) {
        p->k = b32(b, "k_at");
        EMIT(b, mul_s32, p->k, t, I(a->unit_k));
    } else {
        p->b_at = b64(b, "b_at");
        EMIT(b, mad_wide, p->b_at, e->lanes.unit, I(SDDMM_UNIT), e->rhs.array);
    }
    if (!e->plan->guard_units) return;
    p->left = emit_left(e, "left", t);
    if (e->plan->abreast > 1) p->b_left = emit_left(e, "b_left", e->lanes.unit);
}

/* -- A ------------------------------------------------------------------------------------------------ */

/* Sets INSIDE for the panel of A that begins K_AHEAD behind this one. */
static void emit_a_inside(const gather_emitter *e, const panel *p, const mc_reg *inside, int k_ahead) {
    const sddmm_arithmetic *a = arithmetic(e);
    for (int chunk = 0; chunk < e->plan->items.chunks; chunk++)
        if (p->inside[chunk].id)
            EMIT(e->b, setp_ge, inside[chunk], p->left, I(k_ahead + sddmm_chunk_k(a) * chunk + a->unit_k));
}

static void emit_next_a(const gather_emitter *e, const panel *p) {
    int64_t bytes = values_bytes(arithmetic(e)->lhs, e->plan->items.tile_k);
    for (int octet = 0; octet < sddmm_octets(&e->plan->problem); octet++)
        EMIT(e->b, add_s64, p->lhs.at[octet], p->lhs.at[octet], I(bytes));
}

/* Loads the first panel of A, where the others are loaded ahead. */
static void emit_first_a(const gather_emitter *e, const panel *p) {
    emit_a_inside(e, p, p->inside, 0);
    gather_emit_load_lhs(e, &p->lhs, p->inside);
    emit_next_a(e, p);
}

/* Makes operands of this panel of A, and loads the next one where that is done ahead. What lies beyond k, and
   behind the last panel all of it, is not loaded. */
static void emit_a(const gather_emitter *e, const panel *p) {
    const gather_plan *plan = e->plan;
    int tile_k = plan->items.tile_k;
    gather_emit_ready_lhs(e, &p->lhs);
    if (!plan->prefetch_lhs) return;
    note(e->b, "the next panel");
    emit_a_inside(e, p, p->ahead, tile_k);
    if (!plan->guard_units) EMIT(e->b, setp_ge, p->ahead[0], e->k_left, I(tile_k + arithmetic(e)->unit_k));
    gather_emit_load_lhs(e, &p->lhs, p->ahead);
    emit_next_a(e, p);
}

/* -- B ------------------------------------------------------------------------------------------------ */

static void emit_inside(const gather_emitter *e, const panel *p) {
    const sddmm_arithmetic *a = arithmetic(e);
    emit_a_inside(e, p, p->inside, 0);
    if (!p->b_left.id) return;
    for (int load = 0; load < gather_loads(e->plan); load++)
        if (p->b_inside[load].id)
            EMIT(e->b, setp_ge, p->b_inside[load], p->b_left,
                 I(sddmm_chunk_k(a) * e->plan->abreast * load + a->unit_k));
}

/* Floats: sets to zero what a load brings only where INSIDE holds. */
static void emit_zero_ahead(const gather_emitter *e, mc_reg inside, const mc_reg *to, int count) {
    if (inside.id && arithmetic(e)->kind->real) sddmm_emit_zero(e->b, to, count);
}

static void emit_load_column(const gather_emitter *e, const panel *p, mc_reg column, const mc_reg *to) {
    mc_builder *b = e->b;
    EMIT(b, mad_wide, p->address, column, e->rhs.row_bytes, p->b_at);
    for (int load = 0; load < gather_loads(e->plan); load++) {
        emit_zero_ahead(e, p->b_inside[load], &to[4 * load], 4);
        emit_load_words(b, p->b_inside[load], WORDS_RELAXED, SDDMM_UNIT, &to[4 * load],
                        AT(p->address, 4 * SDDMM_UNIT * e->plan->abreast * load));
    }
}

static void emit_load_values(const gather_emitter *e, const panel *p, mc_reg column, const mc_reg *to) {
    const sddmm_arithmetic *a = arithmetic(e);
    for (int chunk = 0; chunk < e->plan->items.chunks; chunk++) {
        mc_reg guards[SDDMM_MAX_STEP_K];
        for (int i = 0; i < a->unit_k; i++) guards[i] = p->inside[chunk];
        gather_emit_row_loads(e, column, p->k, sddmm_chunk_k(a) * chunk, a->unit_k, guards,
                              &to[a->unit_k * chunk]);
    }
}

/* Loads the columns of B that col_idx names for this lane's two slots of set OF. */
static void emit_load_set(const gather_emitter *e, const panel *p, gather_set of, int buffer) {
    gather_note_set(e, "B: units of", of);
    for (int half = 0; half < 2; half++) {
        mc_reg column = e->slots.column[of.set][2 * of.group + half];
        const mc_reg *to = p->row[buffer][of.set][half];
        if (is_rows(e)) emit_load_values(e, p, column, to);
        else emit_load_column(e, p, column, to);
    }
}

static void emit_load_b(const gather_emitter *e, const panel *p, int group) {
    int buffer = group % e->plan->buffers;
    for (int set = 0; set < e->plan->abreast; set++)
        emit_load_set(e, p, (gather_set){.group = group, .set = set}, buffer);
}

/* The words of the mma's row g + 8 HALF, of set OF. */
static const mc_reg *words_of(const gather_emitter *e, const panel *p, gather_set of, int half) {
    return is_rows(e) ? p->joined[half] : p->row[of.group % e->plan->buffers][of.set][half];
}

/* Floats: makes WORDS of chunk CHUNK zeros where that lies beyond k. */
static void emit_cut(const gather_emitter *e, const panel *p, int chunk, const mc_reg *words) {
    const sddmm_arithmetic *a = arithmetic(e);
    if (!a->kind->real || !p->inside[chunk].id) return;
    for (int i = 0; i < a->b_words; i++) EMIT(e->b, selp_b32, words[i], words[i], I(0), p->inside[chunk]);
}

/* Makes words of the values of a row-major B. */
static void emit_words(const gather_emitter *e, const panel *p, int group) {
    const sddmm_arithmetic *a = arithmetic(e);
    const mc_reg(*row)[SDDMM_MAX_ROW] = p->row[group % e->plan->buffers][0];
    if (!is_rows(e)) return;
    for (int half = 0; half < 2; half++)
        for (int chunk = 0; chunk < e->plan->items.chunks; chunk++) {
            const mc_reg *words = &p->joined[half][a->b_words * chunk];
            gather_emit_row_words(e, e->slots.column[0][2 * group + half], &row[half][a->unit_k * chunk],
                                  words);
            emit_cut(e, p, chunk, words);
        }
}

/* -- Groups ------------------------------------------------------------------------------------------- */

static void emit_multiply(gather_emitter *e, const panel *p, int group) {
    const gather_plan *plan = e->plan;
    note(e->b, "multiply group %d", group);
    emit_words(e, p, group);
    sddmm_emit_zero(e->b, e->sums.chain, SDDMM_ACC * sddmm_octets(&plan->problem) * (plan->chains - 1));
    gather_emit_begin(e, group);
    for (int step = 0; step < gather_loads(plan) * arithmetic(e)->steps; step++) {
        gather_emit_read_lhs(e, &p->lhs, step);
        for (int set = 0; set < plan->abreast; set++) {
            gather_set of = {.group = group, .set = set};
            gather_emit_step(e, words_of(e, p, of, 0), words_of(e, p, of, 1), &p->lhs.panel, of, step);
        }
    }
    gather_emit_join_chains(e, group);
    gather_emit_finish(e, group);
}

/* Emits a panel's groups, which go to END behind the item's last one. */
static void emit_groups(gather_emitter *e, const panel *p, mc_label end) {
    const gather_plan *plan = e->plan;
    int ahead = plan->buffers - 1, groups = plan->items.groups;
    emit_inside(e, p);
    if (!plan->prefetch_lhs) gather_emit_load_lhs(e, &p->lhs, p->inside);
    for (int group = 0; group < ahead || group == 0; group++) emit_load_b(e, p, group);
    for (int group = 0; group < groups; group++) {
        bool more = group + 1 < groups;
        if (ahead && group + ahead < groups) emit_load_b(e, p, group + ahead);
        if (group == 0) emit_a(e, p);
        emit_multiply(e, p, group);
        if (plan->store_early) gather_emit_store(e, group);
        if (more) gather_emit_group_end(e, group + 1, end);
        if (more && !ahead) emit_load_b(e, p, group + 1);
    }
    set_label(e->b, end);
}

/* Goes on to the next panel, if there is one. */
static void emit_advance(const gather_emitter *e, const panel *p, mc_label loop) {
    mc_builder *b = e->b;
    const sddmm_arithmetic *a = arithmetic(e);
    int tile_k = e->plan->items.tile_k;
    if (!e->plan->prefetch_lhs) emit_next_a(e, p);
    if (is_rows(e)) EMIT(b, add_s32, p->k, p->k, I(tile_k));
    else EMIT(b, add_s64, p->b_at, p->b_at, I(values_bytes(a->rhs, tile_k)));
    if (p->left.id) EMIT(b, add_s32, p->left, p->left, I(-tile_k));
    if (p->b_left.id) EMIT(b, add_s32, p->b_left, p->b_left, I(-tile_k));
    EMIT(b, add_s32, e->k_left, e->k_left, I(-tile_k));
    mc_reg more = setp_ge(b, "more", e->k_left, I(a->unit_k));
    EMIT_IF(b, more, bra_uni, TO(loop));
}

void gather_emit_wide(gather_emitter *e) {
    mc_builder *b = e->b;
    const gather_plan *plan = e->plan;
    heading(b, "Wide path: %d k of each row at a time", plan->items.chunks * sddmm_chunk_k(arithmetic(e)));
    panel p = {0};
    declare_panel(e, &p);
    emit_start(e, &p);
    mc_label loop = label(b, "PANELS"), end = label(b, "PANEL_END");
    if (plan->prefetch_lhs) emit_first_a(e, &p);
    if (plan->loops) set_label(b, loop);
    emit_groups(e, &p, end);
    if (plan->loops) emit_advance(e, &p, loop);
    gather_emit_end_lhs(e);
}
