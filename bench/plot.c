/* mcbench plot: box plots of the speeds by sparsity, a panel for each operator, V and N (spmm) or K (sddmm),
   as one SVG. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "commands.h"
#include "results.h"
#include "stats.h"

/* Pixels. */
enum {
    PANEL_HEIGHT = 280,
    PANEL_GAP = 56,
    MARGIN_LEFT = 64,
    LEGEND_TOP = 42,
    LEGEND_LINE = 18,
    TITLE_SPACE = 34,
    MARGIN_RIGHT = 24,
    BOX_WIDTH = 12,
    BOX_STEP = 16,
    GROUP_GAP = 26,
    LEGEND_LETTER = 7,
    LEAST_WIDTH = 640
};
enum { MAX_GROUPS = 12, MAX_PANELS = 16 };

/* Colours that the colour-blind can tell apart (Okabe and Ito). */
static const char *const colours[] = {"#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00",
                                      "#56B4E9", "#999999", "#F0E442", "#000000"};
enum { COLOUR_COUNT = sizeof colours / sizeof colours[0] };

/* What problems in one panel have in common. */
typedef struct panel {
    const char *op;
    int vec;
    char size_name;
    int64_t size;
} panel;

typedef struct plot {
    const results *results;
    size_t labels[RESULTS_MAX_LABELS]; /* drawn: all but the base and the specs apart */
    size_t label_count;
    double classes[MAX_GROUPS];
    size_t class_count;
    panel panels[MAX_PANELS];
    size_t panel_count;
    double low, high; /* of the axis: powers of 2 */
    double width;     /* of the whole */
    double top;       /* of the first panel, below the legend */
    double *values;   /* scratch, one a problem */
} plot;

/* -- What there is to draw ------------------------------------------------------------------------------- */

static void add_class(plot *p, double class) {
    size_t at = 0;
    while (at < p->class_count && p->classes[at] < class) at++;
    if ((at < p->class_count && p->classes[at] == class) || p->class_count == MAX_GROUPS) return;
    memmove(p->classes + at + 1, p->classes + at, (p->class_count - at) * sizeof p->classes[0]);
    p->classes[at] = class;
    p->class_count++;
}

static int panel_order(const void *a, const void *b) {
    const panel *x = a, *y = b;
    if (strcmp(x->op, y->op) != 0) return -strcmp(x->op, y->op); /* spmm first */
    if (x->vec != y->vec) return x->vec - y->vec;
    return (x->size > y->size) - (x->size < y->size);
}

static panel panel_of(const result_problem *problem) {
    return (panel){problem->op, problem->vec, problem->size_name, problem->size};
}

static void add_panel(plot *p, const panel *new) {
    for (size_t i = 0; i < p->panel_count; i++)
        if (panel_order(&p->panels[i], new) == 0) return;
    if (p->panel_count < MAX_PANELS) p->panels[p->panel_count++] = *new;
}

static void survey(plot *p) {
    double least = 1, most = 1;
    for (size_t label = 1; label < p->results->label_count; label++)
        if (p->results->parents[label] == 0) p->labels[p->label_count++] = label;
    for (size_t i = 0; i < p->results->problem_count; i++) {
        const result_problem *problem = &p->results->problems[i];
        add_class(p, problem->class);
        const panel of = panel_of(problem);
        add_panel(p, &of);
        for (size_t j = 0; j < p->label_count; j++) {
            double speed = result_speed(problem, p->labels[j]);
            if (speed > 0) least = fmin(least, speed), most = fmax(most, speed);
        }
    }
    qsort(p->panels, p->panel_count, sizeof p->panels[0], panel_order);
    p->low = exp2(floor(log2(least)));
    p->high = exp2(ceil(log2(most * 1.05)));
}

static size_t speeds_of(const plot *p, const panel *at, double class, size_t label) {
    size_t count = 0;
    for (size_t i = 0; i < p->results->problem_count; i++) {
        const result_problem *problem = &p->results->problems[i];
        double speed = result_speed(problem, label);
        const panel of = panel_of(problem);
        if (speed > 0 && problem->class == class && panel_order(&of, at) == 0) p->values[count++] = speed;
    }
    return count;
}

/* -- Drawing --------------------------------------------------------------------------------------------- */

static double group_width(const plot *p) { return (double)p->label_count * BOX_STEP + GROUP_GAP; }

static double panel_width(const plot *p) { return group_width(p) * (double)p->class_count; }

/* Logarithmic: twice and half as fast are as far from 1. */
static double y_of(const plot *p, double speed) {
    return PANEL_HEIGHT * (1 - (log2(speed) - log2(p->low)) / (log2(p->high) - log2(p->low)));
}

/* < and & would be markup. */
static void print_text(const char *text) {
    for (; *text != '\0'; text++) {
        if (*text == '<') printf("&lt;");
        else if (*text == '&') printf("&amp;");
        else putchar(*text);
    }
}

/* Below 1 as a fraction: 1/8. */
static void print_tick(double tick) {
    if (tick < 1) printf("1/%g", 1 / tick);
    else printf("%g", tick);
}

static void draw_axis(const plot *p) {
    for (double tick = p->low; tick <= p->high; tick *= 2) {
        double y = y_of(p, tick);
        printf("<line x1=\"0\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\" class=\"%s\"/>\n", panel_width(p), y, y,
               tick == 1 ? "base" : "grid");
        printf("<text x=\"-8\" y=\"%.1f\" class=\"tick\" text-anchor=\"end\">", y + 4);
        print_tick(tick);
        printf("</text>\n");
    }
    printf("<text x=\"-8\" y=\"%d\" class=\"tick\" text-anchor=\"end\">sparsity</text>\n", PANEL_HEIGHT + 20);
    for (size_t c = 0; c < p->class_count; c++)
        printf("<text x=\"%.1f\" y=\"%d\" class=\"tick\" text-anchor=\"middle\">%g</text>\n",
               group_width(p) * ((double)c + 0.5), PANEL_HEIGHT + 20, p->classes[c]);
}

/* Whiskers from the least to the greatest, a box between the quartiles, a line at the median; of one value a
   line of COLOUR. */
static void draw_box(const plot *p, double x, const box *b, const char *colour) {
    double middle = x + BOX_WIDTH / 2.0;
    printf("<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>\n", middle, middle,
           y_of(p, b->least), y_of(p, b->most), colour);
    printf("<rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%.1f\" fill=\"%s\" fill-opacity=\"0.45\" "
           "stroke=\"%s\"/>\n",
           x, y_of(p, b->high), BOX_WIDTH, y_of(p, b->low) - y_of(p, b->high), colour, colour);
    printf("<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\" class=\"median\"", x, x + BOX_WIDTH,
           y_of(p, b->median), y_of(p, b->median));
    if (b->least == b->most) printf(" style=\"stroke:%s\"", colour);
    printf("/>\n");
}

static void draw_group(const plot *p, const panel *at, size_t class) {
    double x = group_width(p) * (double)class + GROUP_GAP / 2.0;
    for (size_t i = 0; i < p->label_count; i++, x += BOX_STEP) {
        size_t count = speeds_of(p, at, p->classes[class], p->labels[i]);
        if (count == 0) continue;
        box b = box_of(p->values, count);
        draw_box(p, x + (BOX_STEP - BOX_WIDTH) / 2.0, &b, colours[i % COLOUR_COUNT]);
    }
}

static void draw_panel(const plot *p, size_t number) {
    const panel *at = &p->panels[number];
    printf("<g transform=\"translate(%d %.0f)\">\n", MARGIN_LEFT,
           p->top + (double)(number * (PANEL_HEIGHT + PANEL_GAP)));
    printf("<text x=\"0\" y=\"-10\" class=\"title\">%s, V = %d, %c = %lld</text>\n", at->op, at->vec,
           at->size_name, (long long)at->size);
    draw_axis(p);
    for (size_t class = 0; class < p->class_count; class ++) draw_group(p, at, class);
    printf("</g>\n");
}

/* Room for the longest label. */
static int legend_step(const plot *p) {
    size_t longest = 0;
    for (size_t i = 0; i < p->label_count; i++) {
        size_t length = strlen(p->results->labels[p->labels[i]]);
        if (length > longest) longest = length;
    }
    return (int)longest * LEGEND_LETTER + 30;
}

static int legend_columns(const plot *p) {
    int columns = (int)((p->width - MARGIN_LEFT) / legend_step(p));
    return columns < 1 ? 1 : columns;
}

static void lay_out(plot *p) {
    p->width = fmax(panel_width(p) + MARGIN_LEFT + MARGIN_RIGHT, LEAST_WIDTH);
    int entries = (int)p->label_count, columns = legend_columns(p);
    p->top = LEGEND_TOP + LEGEND_LINE * ((entries + columns - 1) / columns) + TITLE_SPACE;
}

static void draw_legend(const plot *p) {
    for (int i = 0; i < (int)p->label_count; i++) {
        int x = MARGIN_LEFT + i % legend_columns(p) * legend_step(p),
            y = LEGEND_TOP + i / legend_columns(p) * LEGEND_LINE;
        printf("<rect x=\"%d\" y=\"%d\" width=\"12\" height=\"12\" fill=\"%s\"/>\n", x, y - 10,
               colours[i % COLOUR_COUNT]);
        printf("<text x=\"%d\" y=\"%d\">", x + 18, y);
        print_text(p->results->labels[p->labels[i]]);
        printf("</text>\n");
    }
}

static void draw(const plot *p) {
    double height = p->top + (double)(p->panel_count * (PANEL_HEIGHT + PANEL_GAP)) - TITLE_SPACE / 2.0;
    printf("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f "
           "%.0f\">\n",
           p->width, height, p->width, height);
    printf("<style>text{font:12px "
           "sans-serif;fill:#222}.title{font-weight:bold}.tick{fill:#555}.grid{stroke:#ddd}"
           ".base{stroke:#222}.median{stroke:#000;stroke-width:2}</style>\n"
           "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
           "<text x=\"%d\" y=\"20\" class=\"title\">Speed over ",
           MARGIN_LEFT);
    print_text(strcmp(p->results->labels[0], RESULTS_BASE) == 0 ? "cuBLASLt fp16" : p->results->labels[0]);
    printf(" (the line at 1): median, quartiles, least and greatest</text>\n");
    draw_legend(p);
    for (size_t i = 0; i < p->panel_count; i++) draw_panel(p, i);
    printf("</svg>\n");
}

/* -- The command ----------------------------------------------------------------------------------------- */

typedef struct plot_options {
    const char *over;
} plot_options;

static const cmd_option plot_table[] = {
    {"over", 0, OPTION_TEXT, offsetof(plot_options, over), "CONTENDER", 0, 0,
     "what speeds are relative to (" RESULTS_BASE ")"},
};

static int plot_run(int argc, char **argv) {
    char **operands;
    int exit_status;
    plot_options options = {0};
    if (!cmd_parse(&cmd_plot, argc, argv, &options, &operands, &exit_status)) return exit_status;
    mc_diag *diag = mc_diag_create();
    results r;
    plot p = {.results = &r};
    mc_status status = results_read(&r, &(results_rule){.over = options.over}, operands, diag);
    if (status == MC_OK) {
        p.values = calloc(r.problem_count, sizeof *p.values);
        if (p.values == NULL) status = mc_fail(diag, MC_NOMEM, "out of memory");
    }
    if (status == MC_OK) {
        survey(&p);
        lay_out(&p);
        draw(&p);
    }
    free(p.values);
    results_free(&r);
    return cmd_finish(status, diag);
}

const cmd cmd_plot = {"plot",
                      "RESULTS...",
                      "box plots by sparsity, V and N, as SVG on standard output",
                      -1,
                      {{plot_table, sizeof plot_table / sizeof plot_table[0]}},
                      plot_run};
