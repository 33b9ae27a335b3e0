/* Choices that were worked out, in a context's cache. */
#ifndef MCRT_CHOICE_CACHE_H
#define MCRT_CHOICE_CACHE_H

#include "choose/choose.h"
#include "choose/spec_sources.h"

/* The key of everything that the choice for PROBLEM follows from. RECORDS is record_digest, or 0 where
   records do not count. False: no memory. */
bool choice_key(mc_context *context, const plan_problem *problem, const spec_sources *sources,
                mc_tuning tuning, uint64_t records, mccache_key *key);
/* Gets a choice from the cache, without fields where there is no kernel. False: it is not there, or makes
   no sense. */
bool choice_cache_get(mc_context *context, const mccache_key *key, choice *chosen);
void choice_cache_put(mc_context *context, const mccache_key *key, const plan_problem *problem,
                      const choice *chosen);
/* Puts that there is no kernel: the choice then has no fields. */
void choice_cache_put_none(mc_context *context, const mccache_key *key, const plan_problem *problem);

#endif
