/*
 * Preloaded into a process (LD_PRELOAD), gives it a machine with faults that a test turns on and off while it runs.
 *
 * FAULTS_FILE    three 64-bit integers: by how many ms the wall clock is off; whether the disk is full (1) or not (0); how
 *                many ms longer the disk takes for a sync, at most until that is changed, or -1 when it fails
 * FAULTS_FOLDER  what is on that disk: writes to files below it fail with ENOSPC while it is full, syncs with EIO
 *
 * Clocks that do not jump (CLOCK_MONOTONIC) are left alone, as a machine's are.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

struct faults { int64_t clock_ms, is_full, sync_ms; };

static volatile struct faults *faults;
static const char *folder;

__attribute__((constructor)) static void begin(void) {
  const char *file = getenv("FAULTS_FILE");
  folder = getenv("FAULTS_FOLDER");
  int fd = file ? (int)syscall(SYS_openat, AT_FDCWD, file, O_RDONLY | O_CLOEXEC, 0) : -1;
  if (fd < 0) return;
  void *found = mmap(0, sizeof *faults, PROT_READ, MAP_SHARED, fd, 0);
  if (found != MAP_FAILED) faults = found;
  syscall(SYS_close, fd);
}

/* The clock: vDSO aside, what libc would ask the kernel. */

static int64_t off_by(void) { return faults ? faults->clock_ms : 0; }

static void shift(int64_t *seconds, long *fraction, long per_second) {
  int64_t ms = off_by();
  *seconds += ms / 1000;
  *fraction += ms % 1000 * (per_second / 1000);
  if (*fraction < 0) *fraction += per_second, *seconds -= 1;
  if (*fraction >= per_second) *fraction -= per_second, *seconds += 1;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  int result = (int)syscall(SYS_clock_gettime, clock, now);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
    shift((int64_t *)&now->tv_sec, &now->tv_nsec, 1000000000);
  return result;
}

int gettimeofday(struct timeval *now, void *zone) {
  (void)zone;
  int result = (int)syscall(SYS_gettimeofday, now, 0);
  if (result == 0) shift((int64_t *)&now->tv_sec, (long *)&now->tv_usec, 1000000);
  return result;
}

time_t time(time_t *at) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (at) *at = now.tv_sec;
  return now.tv_sec;
}

/* The disk */

static int is_on_disk(int fd) {
  char link[64], path[4096];
  if (!folder) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  long length = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof path - 1);
  if (length <= 0) return 0;
  path[length] = 0;
  return strncmp(path, folder, strlen(folder)) == 0;
}

static int has_no_room(int fd) {
  if (!faults || !faults->is_full || !is_on_disk(fd)) return 0;
  errno = ENOSPC;
  return 1;
}

#define WRITING(name, declared, ...) \
  ssize_t name declared { \
    static ssize_t (*real) declared; \
    if (!real) real = (ssize_t (*) declared)dlsym(RTLD_NEXT, #name); \
    return has_no_room(fd) ? -1 : real(__VA_ARGS__); \
  }
WRITING(write, (int fd, const void *bytes, size_t length), fd, bytes, length)
WRITING(writev, (int fd, const struct iovec *parts, int count), fd, parts, count)
WRITING(pwrite64, (int fd, const void *bytes, size_t length, off64_t offset), fd, bytes, length, offset)
WRITING(pwritev, (int fd, const struct iovec *parts, int count, off_t offset), fd, parts, count, offset)

static int64_t monotonic_ms(void) {
  struct timespec now;
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int fails_sync(int fd) {
  int64_t ms = faults ? faults->sync_ms : 0;
  if (ms == 0 || !is_on_disk(fd)) return 0;
  if (ms < 0) return errno = EIO, 1;
  const struct timespec pause = {.tv_nsec = 1000000};
  for (int64_t end = monotonic_ms() + ms; faults->sync_ms == ms && monotonic_ms() < end;) nanosleep(&pause, 0);
  return 0;
}

#define SYNCING(name) \
  int name(int fd) { \
    static int (*real)(int); \
    if (!real) real = (int (*)(int))dlsym(RTLD_NEXT, #name); \
    return fails_sync(fd) ? -1 : real(fd); \
  }
SYNCING(fsync)
SYNCING(fdatasync)
