#include "costs.h"
#include <math.h>
#include <stdio.h>

static const double instructions_of_a_microsecond = 1000;

const char *cost_unit(bool simulated) { return simulated ? "instructions" : "us"; }

cost_label cost_number(double microseconds, bool simulated, int digits) {
    cost_label label;
    if (simulated)
        snprintf(label.text, sizeof label.text, "%.0f", microseconds * instructions_of_a_microsecond);
    else snprintf(label.text, sizeof label.text, "%.*f", digits, microseconds);
    return label;
}

cost_label cost_text(double microseconds, bool simulated, int digits) {
    cost_label number = cost_number(microseconds, simulated, digits), label;
    snprintf(label.text, sizeof label.text, "%.30s %s", number.text, cost_unit(simulated));
    return label;
}

json_t *cost_json(double microseconds, bool simulated) {
    return simulated ? json_integer(llround(microseconds * instructions_of_a_microsecond))
                     : json_real(microseconds);
}

bool cost_put(json_t *object, const char *name, double microseconds, bool simulated) {
    char member[64];
    if (!(microseconds > 0)) return true;
    snprintf(member, sizeof member, "%s_%s", name, cost_unit(simulated));
    return json_object_set_new(object, member, cost_json(microseconds, simulated)) == 0;
}
