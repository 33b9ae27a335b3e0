/* mcrun compress on a device. */
#ifndef MCRUN_COMPRESS_DEVICE_H
#define MCRUN_COMPRESS_DEVICE_H

#include "context/compress24.h"
#include "matrix/sparse24_layout.h"

typedef struct device_compression {
    const char *device; /* as mc_context_config has it */
    bool bench;
    mc_context *context; /* of compress_open_device */
    bool prune;
    mc_layout24 layout; /* of metadata: natural, or that of CUTLASS, for a tile of MC_META_TILE_K */
    /* What there is to tell */
    char device_text[192];
    compress24_times times; /* with bench */
} device_compression;

/* MC_CANNOT where there is no such device, and where it has no time to measure and BENCH is set. Afterwards
   D is closed, also on failure. */
mc_status compress_open_device(device_compression *d, mc_diag *diag);
void compress_close_device(device_compression *d);
/* mc_sparse24_compress on a device. In another LAYOUT than the natural one the metadata are META, which
   HOW, that layout, gives its shape, and S has none. The call creates S and META. */
mc_status compress_on_device(device_compression *d, const mc_dense *a, const mc_meta_layout *how,
                             mc_sparse24 *s, mc_dense *meta, mc_diag *diag);

#endif
