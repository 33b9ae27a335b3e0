/* cache_put LABEL TEXT: puts TEXT into the environment's cache, under a key made of LABEL; says where it lies. */
#include <stdio.h>
#include <string.h>
#include "mccache.h"

int main(int argc, char **argv) {
    mccache_config config = {.size = sizeof config};
    mccache_paths paths;
    char text[MCCACHE_KEY_TEXT];
    if (argc != 3 || !mccache_environment(&config, &paths, NULL)) return 2;
    mccache *cache = mccache_open(&config);
    mccache_field field = mccache_text("label", argv[1]);
    mccache_key key = mccache_key_of(&field, 1);
    mccache_key_text(&key, text);
    mccache_put(cache, &key, argv[1], argv[2], strlen(argv[2]));
    printf("%s/%.2s/%s.entry\n", mccache_directory(cache), text, text);
    mccache_close(cache);
    return 0;
}
