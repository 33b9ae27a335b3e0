/* Calls one of the libraries, so that a program is linked with it. It does not compile where headers of the
   project's own are in the include path. */
#include <stdio.h>
#if defined(USES_mcrt)
#include <mcrt.h>
#elif defined(USES_mcgen)
#include <mcgen.h>
#elif defined(USES_mccache)
#include <mccache.h>
#elif defined(USES_ptxsim)
#include <ptxsim.h>
#endif
#if defined(__has_include)
#if __has_include("mcrt_internal.h") || __has_include("text/file.h")
#error "headers of the project's own are in the include path"
#endif
#endif

int main(void) {
#if defined(USES_mcrt)
    mc_context *context = NULL;
    mc_context_config config = {.size = sizeof config, .device = "sim"};
    mc_status status = mc_context_create(&config, &context, NULL);
    puts(mc_status_text(status));
    mc_context_destroy(context);
    return status != MC_OK;
#elif defined(USES_mcgen)
    puts(mc_builtin_specs()->name);
#elif defined(USES_mccache)
    puts(mccache_key_of(&(mccache_field){0}, 0).bytes[0] ? "a key" : "a key with a zero");
#elif defined(USES_ptxsim)
    ptxsim *sim = NULL;
    ptxsim_status status = ptxsim_create(NULL, &sim);
    puts(ptxsim_status_text(status));
    ptxsim_destroy(sim);
#endif
    return 0;
}
