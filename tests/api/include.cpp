/* The installed headers in a C++ program: they compile as C++11 without a warning, and their functions link. */
#include <mc_describe.h>
#include <mccache.h>
#include <mcgen.h>
#include <mcrt.h>
#include <ptxsim.h>
#include <cstdio>
#include <cstring>

int main() {
    mc_context_config config = mc_context_config();
    config.size = sizeof config;
    config.device = "sim";
    config.cache = MC_CACHE_MEMORY;
    mc_diag *diag = mc_diag_create();
    mc_context *context = nullptr;
    mc_status status = mc_context_create(&config, &context, diag);
    mc_context_info info = mc_context_info();
    info.size = sizeof info;
    if (status == MC_OK) status = mc_context_get_info(context, &info, diag);
    std::printf("%s: %s%s\n", mc_status_text(status), status == MC_OK ? info.device : "", mc_diag_text(diag));
    mc_context_destroy(context);
    mc_diag_destroy(diag);
    mc_diag_clear(nullptr);
    bool none = mc_diag_count(nullptr) == 0 && mc_diag_text(nullptr)[0] == 0;
    bool others = std::strlen(mc_generator_id()) == 16 && std::strlen(ptxsim_status_text(PTXSIM_OK)) > 0 &&
                  mccache_text("a field", "its value").size == 9;
    return status == MC_OK && none && others ? 0 : 1;
}
