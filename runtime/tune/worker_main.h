/* The worker that tune_measure_by starts: `mcrun tune-worker` is this and no more. */
#ifndef MCRT_TUNE_WORKER_MAIN_H
#define MCRT_TUNE_WORKER_MAIN_H

/* The exit status. */
int tune_worker_main(void);

#endif
