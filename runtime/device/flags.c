/* Flags of kernels that leave each other parts of a tile (mc_contract.flags). */
#include "device/device.h"

/* A kernel may find anything in its flags, and the simulator stops whoever reads what nothing wrote: so
   something is written where nothing was. */
mc_status mc_launch_touch_flags(mc_device *device, const mc_launch *launch, mc_diag *diag) {
    enum { ANYTHING = 0xa5 };
    mc_status status = MC_OK;
    if (launch->flags == 0 || mc_device_get_info(device)->kind != MC_DEVICE_SIM) return MC_OK;
    for (unsigned i = 0; i < launch->flags && status == MC_OK; i += sizeof(uint64_t)) {
        const uint64_t at = launch->values[launch->workspace] + i;
        uint64_t flag;
        if (mc_device_read(device, at, &flag, sizeof flag, NULL) != MC_OK)
            status = mc_device_fill(device, at, ANYTHING, sizeof flag, diag);
    }
    return status;
}
