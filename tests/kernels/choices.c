#include "choices.h"
#include "check.h"
#include <stdio.h>

void choices_try_all(const choice *choices, size_t count, int step, choice_try *try, void *user) {
    size_t turns[MOST_CHOICES] = {0}, i = 0;
    mc_setting settings[MOST_CHOICES];
    char text[200];
    const check_share part = check_part();
    for (int number = 0; i < count; number++) {
        size_t used = 0;
        for (i = 0; i < count; i++) {
            settings[i] = (mc_setting){choices[i].field, choices[i].words[turns[i]]};
            used += (size_t)snprintf(text + used, sizeof text - used, "%s=%s ", settings[i].field,
                                     settings[i].value);
            if (used >= sizeof text) used = sizeof text - 1;
        }
        if (number % step == 0 && number / step % part.step == part.first) try(user, text, settings, count);
        for (i = 0; i < count && choices[i].words[++turns[i]] == NULL; i++) turns[i] = 0;
    }
}

mc_kernel *choices_kernel(const char *spec, const mc_setting *settings, size_t count, mc_diag *diag) {
    mc_spec *read = NULL;
    mc_kernel *kernel = NULL;
    if (mc_spec_read(spec, settings, count, &read, diag) == MC_OK)
        (void)mc_kernel_generate(read, mc_spec_default(read), &kernel, diag);
    mc_spec_destroy(read);
    return kernel;
}
