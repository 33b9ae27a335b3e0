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
    const ptxsim_function *f;
    int exit;
    int *order;               /* nodes that reach the exit, in post-order of the reversed graph */
    int *number;              /* by node: its place in `order`, -1 outside */
    int *dominator;           /* by node: its immediate post-dominator, -1 while unknown */
    int *first, *next, *from; /* reversed edges: first[node] -> next[edge]; from[edge] */
    int *keeps;               /* by node: whether edges that only exit stay */
    int count;
};

static bool is_guarded(const struct sim_insn *insn) { return insn->guard != SIM_NO_REGISTER; }

static bool only_exits(const struct graph *g, int node) {
    return node == g->exit || ((g->f->code[node].op->flags & SIM_OP_EXIT) && !is_guarded(&g->f->code[node]));
}

/* The successors of NODE, at most two; returns how many. */
static int successors(const struct graph *g, int node, int out[2]) {
    const struct sim_insn *insn = &g->f->code[node];
    int count = 0;
    if (!(insn->op->flags & (SIM_OP_BRANCH | SIM_OP_EXIT)) || is_guarded(insn)) out[count++] = node + 1;
    if (insn->op->flags & SIM_OP_BRANCH) out[count++] = insn->target;
    if (count == 0) out[count++] = g->exit;
    if (g->keeps[node]) return count;
    if (count == 2 && only_exits(g, out[0])) out[0] = out[--count];
    if (count == 2 && only_exits(g, out[1])) count--;
    return count;
}

static void add_edges(struct graph *g) {
    int edge = 0;
    g->count = 0;
    for (int node = 0; node <= g->exit; node++) g->first[node] = g->number[node] = g->dominator[node] = -1;
    for (int node = 0; node < g->exit; node++) {
        int to[2], n = successors(g, node, to);
        for (int i = 0; i < n; i++, edge++) {
            g->from[edge] = node;
            g->next[edge] = g->first[to[i]];
            g->first[to[i]] = edge;
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
            int node = g->order[i], to[2], n = successors(g, node, to), best = -1;
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

bool sim_find_reconvergence(ptxsim_function *f) {
    struct graph g = {.f = f, .exit = f->code_count};
    size_t n = (size_t)f->code_count + 1;
    int *memory = calloc(10 * n, sizeof *memory);
    if (!memory) return false;
    g.order = memory;
    g.number = memory + n;
    g.dominator = memory + 2 * n;
    g.first = memory + 3 * n;
    g.next = memory + 4 * n;
    g.from = memory + 6 * n;
    g.keeps = memory + 9 * n;
    add_edges(&g);
    number_nodes(&g, memory + 8 * n);
    if (keep_exits(&g)) {
        add_edges(&g);
        number_nodes(&g, memory + 8 * n);
    }
    find_dominators(&g);
    for (int i = 0; i < f->code_count; i++)
        f->code[i].reconverge = g.dominator[i] < 0 ? g.exit : g.dominator[i];
    free(memory);
    return true;
}
