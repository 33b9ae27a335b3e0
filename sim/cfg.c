/* Where the lanes that a branch separates meet again: the branch's immediate post-dominator, by the algorithm
 * of Cooper, Harvey and Kennedy ("A Simple, Fast Dominance Algorithm", 2001) on the reversed control-flow
 * graph, an instruction a node. The node behind the last instruction is the exit of all threads.
 *
 * Threads that exit need not be waited for. So an edge that does nothing but exit (a guarded ret, or a branch
 * to a ret) is left out wherever the other threads have a way on; the executor lets such threads exit at
 * once. Where no other way leads to the exit, as behind the last loop, the edge stays. */
#include "module.h"
#include "ops.h"

#include <stdlib.h>

struct graph {
    const struct sim_insn *code;
    int base; /* of CODE in the function: targets count from there */
    int exit;
    int *to;                  /* room for the successors of a node */
    int *order;               /* nodes that reach the exit, in post-order of the reversed graph */
    int *number;              /* by node: its place in `order`, -1 outside */
    int *dominator;           /* by node: its immediate post-dominator, -1 while unknown */
    int *first, *next, *from; /* reversed edges: first[node] -> next[edge]; from[edge] */
    int *keeps;               /* by node: whether edges that only exit stay */
    int count;
};

static bool is_guarded(const struct sim_insn *insn) { return insn->guard != SIM_NO_REGISTER; }

static bool only_exits(const struct graph *g, int node) {
    return node == g->exit || ((g->code[node].op->flags & SIM_OP_EXIT) && !is_guarded(&g->code[node]));
}

static const struct sim_targets *targets_of(const struct sim_insn *insn) {
    return insn->exec == sim_brx_idx ? insn->value[1].lanes : NULL;
}

/* The most successors that the instruction can have. */
static int most_successors(const struct sim_insn *insn) {
    const struct sim_targets *targets = targets_of(insn);
    return targets ? targets->count + 1 : 2;
}

/* Where the branch goes, behind the COUNT successors that there are; returns how many there are then. */
static int add_targets(const struct graph *g, const struct sim_insn *insn, int count) {
    const struct sim_targets *targets = targets_of(insn);
    if (!targets) {
        g->to[count++] = insn->target - g->base;
        return count;
    }
    for (int i = 0; i < targets->count; i++) g->to[count++] = targets->at[i] - g->base;
    return count;
}

/* Writes the successors of NODE to g->to; returns how many. */
static int successors(const struct graph *g, int node) {
    const struct sim_insn *insn = &g->code[node];
    int count = 0, kept = 0;
    if (!(insn->op->flags & (SIM_OP_BRANCH | SIM_OP_EXIT)) || is_guarded(insn)) g->to[count++] = node + 1;
    if (insn->op->flags & SIM_OP_BRANCH) count = add_targets(g, insn, count);
    if (count == 0) g->to[count++] = g->exit;
    if (g->keeps[node]) return count;
    for (int i = 0; i < count; i++)
        if (!only_exits(g, g->to[i]) || (kept == 0 && i == count - 1)) g->to[kept++] = g->to[i];
    return kept;
}

static void add_edges(struct graph *g) {
    int edge = 0;
    g->count = 0;
    for (int node = 0; node <= g->exit; node++) g->first[node] = g->number[node] = g->dominator[node] = -1;
    for (int node = 0; node < g->exit; node++) {
        int n = successors(g, node);
        for (int i = 0; i < n; i++, edge++) {
            g->from[edge] = node;
            g->next[edge] = g->first[g->to[i]];
            g->first[g->to[i]] = edge;
        }
    }
}

/* Post-order of the nodes that reach the exit. STACK has room for all nodes; `first` is used up. */
static void number_nodes(struct graph *g, int *stack) {
    int depth = 0;
    stack[depth++] = g->exit;
    g->number[g->exit] = 0;
    while (depth > 0) {
        int node = stack[depth - 1], edge = g->first[node];
        if (edge < 0) {
            g->number[node] = g->count;
            g->order[g->count++] = node;
            depth--;
            continue;
        }
        g->first[node] = g->next[edge];
        if (g->number[g->from[edge]] >= 0) continue;
        g->number[g->from[edge]] = 0;
        stack[depth++] = g->from[edge];
    }
}

/* Nodes that do not reach the exit keep their edges to it. Whether there are any. */
static bool keep_exits(struct graph *g) {
    bool any = false;
    for (int node = 0; node < g->exit; node++) any |= g->keeps[node] = g->number[node] < 0;
    return any;
}

static int meet(const struct graph *g, int a, int b) {
    while (a != b) {
        while (g->number[a] < g->number[b]) a = g->dominator[a];
        while (g->number[b] < g->number[a]) b = g->dominator[b];
    }
    return a;
}

static void find_dominators(struct graph *g) {
    g->dominator[g->exit] = g->exit;
    for (bool changed = true; changed;) {
        changed = false;
        for (int i = g->count - 2; i >= 0; i--) { /* the exit is the last in post-order */
            int node = g->order[i], n = successors(g, node), best = -1;
            const int *to = g->to;
            for (int s = 0; s < n; s++) {
                if (g->number[to[s]] < 0 || g->dominator[to[s]] < 0) continue;
                best = best < 0 ? to[s] : meet(g, best, to[s]);
            }
            if (best == g->dominator[node]) continue;
            g->dominator[node] = best;
            changed = true;
        }
    }
}

/* Instructions FIRST to END - 1 of F, which no other instruction branches to. */
static bool find_part(ptxsim_function *f, int first, int end) {
    struct graph g = {.code = f->code + first, .base = first, .exit = end - first};
    size_t n = (size_t)(end - first) + 1, edges = 2, most = 2;
    for (int i = first; i < end; i++) {
        size_t count = (size_t)most_successors(&f->code[i]);
        edges += count;
        if (most < count) most = count;
    }
    int *memory = calloc(6 * n + 2 * edges + most, sizeof *memory);
    if (!memory) return false;
    g.order = memory;
    g.number = memory + n;
    g.dominator = memory + 2 * n;
    g.first = memory + 3 * n;
    g.keeps = memory + 4 * n;
    int *stack = memory + 5 * n;
    g.next = memory + 6 * n;
    g.from = g.next + edges;
    g.to = g.from + edges;
    add_edges(&g);
    number_nodes(&g, stack);
    if (keep_exits(&g)) {
        add_edges(&g);
        number_nodes(&g, stack);
    }
    find_dominators(&g);
    for (int i = 0; i < g.exit; i++)
        f->code[first + i].reconverge = first + (g.dominator[i] < 0 ? g.exit : g.dominator[i]);
    free(memory);
    return true;
}

bool sim_find_reconvergence(ptxsim_function *f) {
    int first = 0;
    for (int i = 0; i < f->part_count; i++) {
        if (!find_part(f, first, f->parts[i])) return false;
        first = f->parts[i];
    }
    return find_part(f, first, f->code_count);
}
