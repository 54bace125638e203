/* Adds the seconds that a file of eight bytes holds to the time of day, and to no other clock. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>

static volatile int64_t *ahead_s;
static int (*real)(clockid_t, struct timespec *);

__attribute__((constructor)) static void open_offset(void) {
  int file = open(getenv("CLOCK_AHEAD"), O_RDONLY);
  ahead_s = mmap(NULL, sizeof *ahead_s, PROT_READ, MAP_SHARED, file, 0);
  real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  int failed = real(clock, now);
  if (!failed && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
    now->tv_sec += *ahead_s;
  return failed;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  (void)zone;
  struct timespec precise;
  int failed = clock_gettime(CLOCK_REALTIME, &precise);
  now->tv_sec = precise.tv_sec;
  now->tv_usec = precise.tv_nsec / 1000;
  return failed;
}

time_t time(time_t *now) {
  struct timespec precise;
  clock_gettime(CLOCK_REALTIME, &precise);
  if (now)
    *now = precise.tv_sec;
  return precise.tv_sec;
}
