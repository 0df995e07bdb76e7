/*
 * Preloaded into a process (LD_PRELOAD), notes what would undo each of its changes under one folder, so that a
 * harness can take back, after SIGKILL, whatever was not synced: what a power cut may leave.
 *
 * POWER_CUT_FOLDER   the folder, absolute and without symbolic links
 * POWER_CUT_JOURNAL  a folder beside it, on the same file system: gets `journal-<pid>`, and in `keep` a hard link to
 *                    each file that was touched, by its inode
 *
 * A change is noted before it is made, and both happen under one lock, so that the order of the notes is that of the
 * changes. A sync is noted after it has returned, with the number of the last note before it began: it covers no more.
 * undo.ts reads the notes. Not seen: mapped memory (SQLite's -shm, which is made anew after a crash) and what makes
 * its system calls without libc.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind { WRITE = 1, TRUNCATE, SYNC, CREATE, RENAME, UNLINK, MKDIR, RMDIR };

struct note {
  uint32_t kind, path_length, to_length, byte_count;
  /* inode: of the file; parent: of the folder that has to be synced; replaced: what a rename overwrote */
  uint64_t number, inode, parent, replaced;
  /* of a WRITE: where and how long; of a TRUNCATE: offset is the new size; of a SYNC: the last number covered */
  uint64_t offset, length, old_size;
};

#define MAX_FDS 65536
#define REAL(result, name, ...) \
  static result (*real)(__VA_ARGS__); \
  if (!real) real = (result (*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

static char folder[4096], journal_folder[4096];
static size_t folder_length;
static dev_t device;
static int journal = -1;
static uint64_t last_number;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* The inode of each descriptor that is watched, 0 of the others; and one to read its file with. */
static uint64_t watched[MAX_FDS];
static int reader[MAX_FDS];

__attribute__((constructor)) static void begin(void) {
  const char *wanted = getenv("POWER_CUT_FOLDER"), *notes = getenv("POWER_CUT_JOURNAL");
  if (!wanted || !notes) return;
  snprintf(folder, sizeof folder, "%s", wanted);
  snprintf(journal_folder, sizeof journal_folder, "%s", notes);
  struct stat found;
  if (stat(folder, &found) != 0) return;
  device = found.st_dev;
  folder_length = strlen(folder);
}

/* A harness that sees only a part of what happens would prove nothing. */
static void fail(const char *what) {
  fprintf(stderr, "undo-journal: %s: %s\n", what, strerror(errno));
  abort();
}

static void append(const void *bytes, size_t length) {
  const char *at = bytes;
  while (length > 0) {
    long done = syscall(SYS_write, journal, at, length);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) fail("the journal cannot be written");
    at += done, length -= done;
  }
}

/* Called with the lock held. */
static void add(struct note *note, const char *path, const char *to, const void *bytes) {
  if (journal < 0) {
    char name[4200];
    snprintf(name, sizeof name, "%s/journal-%d", journal_folder, getpid());
    journal = (int)syscall(SYS_openat, AT_FDCWD, name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (journal < 0) fail(name);
  }
  note->number = ++last_number;
  note->path_length = path ? strlen(path) : 0;
  note->to_length = to ? strlen(to) : 0;
  append(note, sizeof *note);
  if (path) append(path, note->path_length);
  if (to) append(to, note->to_length);
  if (note->byte_count) append(bytes, note->byte_count);
}

static int is_inside(const char *path) {
  if (!folder_length || strncmp(path, folder, folder_length) != 0) return 0;
  size_t length = strlen(path);
  if (length > 4 && strcmp(path + length - 4, "-shm") == 0) return 0;
  return path[folder_length] == '/' || path[folder_length] == 0;
}

/* The absolute path, when it is inside of the folder. */
static int to_inside(int at, const char *path, char *absolute, size_t size) {
  if (!folder_length || !path) return 0;
  if (path[0] == '/') snprintf(absolute, size, "%s", path);
  else {
    char base[4096], link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", at);
    long length = at == AT_FDCWD ? syscall(SYS_getcwd, base, sizeof base) - 1
                                 : syscall(SYS_readlinkat, AT_FDCWD, link, base, sizeof base - 1);
    if (length < 0) return 0;
    base[length] = 0;
    snprintf(absolute, size, "%s/%s", base, path);
  }
  return is_inside(absolute);
}

static uint64_t inode_of(const char *path) {
  struct stat found;
  return fstatat(AT_FDCWD, path, &found, AT_SYMLINK_NOFOLLOW) == 0 ? found.st_ino : 0;
}

static uint64_t parent_of(const char *path) {
  char parent[4096];
  snprintf(parent, sizeof parent, "%s", path);
  char *end = strrchr(parent, '/');
  if (end) *end = 0;
  return inode_of(parent);
}

/* Holds on to a file, whatever becomes of its name. @returns its inode */
static uint64_t keep(const char *path) {
  struct stat found;
  if (fstatat(AT_FDCWD, path, &found, AT_SYMLINK_NOFOLLOW) != 0) return 0;
  uint64_t inode = found.st_ino;
  if (!S_ISREG(found.st_mode)) return inode;
  char name[4200];
  snprintf(name, sizeof name, "%s/keep/%llu", journal_folder, (unsigned long long)inode);
  if (syscall(SYS_linkat, AT_FDCWD, path, AT_FDCWD, name, 0) != 0 && errno != EEXIST) fail(name);
  return inode;
}

/* What is in a file from offset on, at most length bytes. */
static char *read_old(int fd, uint64_t offset, uint64_t length, uint32_t *count) {
  char *bytes = malloc(length ? length : 1);
  *count = 0;
  while (bytes && *count < length) {
    long got = syscall(SYS_pread64, fd, bytes + *count, length - *count, offset + *count);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("what is overwritten cannot be read");
    if (got == 0) break;
    *count += got;
  }
  return bytes;
}

static uint64_t size_of(int fd) {
  struct stat found;
  if (fstat(fd, &found) != 0) fail("no size");
  return found.st_size;
}

static void note_write(int fd, uint64_t offset, uint64_t length) {
  struct note note = {.kind = WRITE, .inode = watched[fd], .offset = offset, .length = length, .old_size = size_of(fd)};
  char *old = read_old(reader[fd], offset, length, &note.byte_count);
  add(&note, 0, 0, old);
  free(old);
}

static void note_truncate(int fd, int readable, uint64_t inode, uint64_t size) {
  struct note note = {.kind = TRUNCATE, .inode = inode, .offset = size, .old_size = size_of(fd)};
  char *old = read_old(readable, size, note.old_size > size ? note.old_size - size : 0, &note.byte_count);
  add(&note, 0, 0, old);
  free(old);
}

/* A descriptor may have been closed without close(), and be another's now. */
static int is_watched(int fd) {
  if (fd < 0 || fd >= MAX_FDS || watched[fd] == 0) return 0;
  struct stat found;
  if (fstat(fd, &found) == 0 && found.st_ino == watched[fd] && found.st_dev == device) return 1;
  watched[fd] = 0;
  return 0;
}

/* Opening */

static int open_watched(int at, const char *path, int flags, mode_t mode) {
  char absolute[8200];
  if (!to_inside(at, path, absolute, sizeof absolute) || (flags & O_TMPFILE) == O_TMPFILE)
    return (int)syscall(SYS_openat, at, path, flags, mode);
  pthread_mutex_lock(&lock);
  uint64_t before = inode_of(absolute);
  if (before && (flags & O_TRUNC) && (flags & O_ACCMODE) != O_RDONLY) {
    int old = (int)syscall(SYS_openat, AT_FDCWD, absolute, O_RDONLY | O_CLOEXEC, 0);
    if (old >= 0) {
      note_truncate(old, old, keep(absolute), 0);
      syscall(SYS_close, old);
    }
  }
  if (!before && (flags & O_CREAT)) {
    struct note note = {.kind = CREATE, .parent = parent_of(absolute)};
    add(&note, absolute, 0, 0);
  }
  int fd = (int)syscall(SYS_openat, at, path, flags, mode);
  int error = errno;
  if (fd >= MAX_FDS) fail("too many descriptors");
  if (fd >= 0) {
    int is_folder = (flags & O_ACCMODE) == O_RDONLY;
    watched[fd] = is_folder ? inode_of(absolute) : keep(absolute);
    reader[fd] = fd;
    if ((flags & O_ACCMODE) == O_WRONLY)
      reader[fd] = (int)syscall(SYS_openat, AT_FDCWD, absolute, O_RDONLY | O_CLOEXEC, 0);
  }
  pthread_mutex_unlock(&lock);
  errno = error;
  return fd;
}

#define OPEN(name) \
  int name(const char *path, int flags, ...) { \
    va_list rest; va_start(rest, flags); mode_t mode = va_arg(rest, mode_t); va_end(rest); \
    return open_watched(AT_FDCWD, path, flags | O_LARGEFILE, mode); \
  }
OPEN(open)
OPEN(open64)
#define OPENAT(name) \
  int name(int at, const char *path, int flags, ...) { \
    va_list rest; va_start(rest, flags); mode_t mode = va_arg(rest, mode_t); va_end(rest); \
    return open_watched(at, path, flags | O_LARGEFILE, mode); \
  }
OPENAT(openat)
OPENAT(openat64)

int close(int fd) {
  if (is_watched(fd)) {
    pthread_mutex_lock(&lock);
    watched[fd] = 0;
    if (reader[fd] != fd) syscall(SYS_close, reader[fd]);
    pthread_mutex_unlock(&lock);
  }
  return (int)syscall(SYS_close, fd);
}

/* Writing */

#define LOCKED(fd, noting, doing) \
  if (!is_watched(fd)) return doing; \
  pthread_mutex_lock(&lock); \
  noting; \
  ssize_t result = doing; \
  int error = errno; \
  pthread_mutex_unlock(&lock); \
  errno = error; \
  return result

static uint64_t position_of(int fd) {
  int flags = fcntl(fd, F_GETFL);
  return flags & O_APPEND ? size_of(fd) : (uint64_t)syscall(SYS_lseek, fd, 0, SEEK_CUR);
}

static uint64_t length_of(const struct iovec *parts, int count) {
  uint64_t length = 0;
  for (int i = 0; i < count; i++) length += parts[i].iov_len;
  return length;
}

ssize_t write(int fd, const void *bytes, size_t length) {
  REAL(ssize_t, "write", int, const void *, size_t);
  LOCKED(fd, note_write(fd, position_of(fd), length), real(fd, bytes, length));
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
  REAL(ssize_t, "writev", int, const struct iovec *, int);
  LOCKED(fd, note_write(fd, position_of(fd), length_of(parts, count)), real(fd, parts, count));
}

#define PWRITE(name) \
  ssize_t name(int fd, const void *bytes, size_t length, off64_t offset) { \
    REAL(ssize_t, "pwrite64", int, const void *, size_t, off64_t); \
    LOCKED(fd, note_write(fd, offset, length), real(fd, bytes, length, offset)); \
  }
PWRITE(pwrite)
PWRITE(pwrite64)

#define PWRITEV(name) \
  ssize_t name(int fd, const struct iovec *parts, int count, off64_t offset) { \
    REAL(ssize_t, "pwritev64", int, const struct iovec *, int, off64_t); \
    LOCKED(fd, note_write(fd, offset, length_of(parts, count)), real(fd, parts, count, offset)); \
  }
PWRITEV(pwritev)
PWRITEV(pwritev64)

#define FTRUNCATE(name) \
  int name(int fd, off64_t size) { \
    REAL(int, "ftruncate64", int, off64_t); \
    LOCKED(fd, note_truncate(fd, reader[fd], watched[fd], size), real(fd, size)); \
  }
FTRUNCATE(ftruncate)
FTRUNCATE(ftruncate64)

/* Syncing: what was noted before it began is on the disk when it has returned. */

static int note_sync(int fd, uint64_t covered, int result) {
  int error = errno;
  if (result == 0) {
    pthread_mutex_lock(&lock);
    struct note note = {.kind = SYNC, .inode = watched[fd], .offset = covered};
    add(&note, 0, 0, 0);
    pthread_mutex_unlock(&lock);
  }
  errno = error;
  return result;
}

static uint64_t number_now(void) {
  pthread_mutex_lock(&lock);
  uint64_t number = last_number;
  pthread_mutex_unlock(&lock);
  return number;
}

#define SYNCS(name) \
  int name(int fd) { \
    REAL(int, #name, int); \
    if (!is_watched(fd)) return real(fd); \
    uint64_t covered = number_now(); \
    return note_sync(fd, covered, real(fd)); \
  }
SYNCS(fsync)
SYNCS(fdatasync)

/* Names: durable when the folder that they are in is synced. */

#define NAMED(inside, noting, doing) \
  if (!(inside)) return doing; \
  pthread_mutex_lock(&lock); \
  noting; \
  int result = (int)doing; \
  int error = errno; \
  pthread_mutex_unlock(&lock); \
  errno = error; \
  return result

static void note_name(enum kind kind, const char *path) {
  struct note note = {.kind = kind, .parent = parent_of(path)};
  if (kind == UNLINK) note.inode = keep(path);
  /* Nothing was there, or something is there already: nothing will happen. */
  if ((kind == UNLINK && !note.inode) || (kind == MKDIR && inode_of(path))) return;
  add(&note, path, 0, 0);
}

static int remove_at(int at, const char *path, int flags) {
  char absolute[8200];
  NAMED(to_inside(at, path, absolute, sizeof absolute), note_name(flags & AT_REMOVEDIR ? RMDIR : UNLINK, absolute),
        syscall(SYS_unlinkat, at, path, flags));
}
int unlink(const char *path) { return remove_at(AT_FDCWD, path, 0); }
int unlinkat(int at, const char *path, int flags) { return remove_at(at, path, flags); }
int rmdir(const char *path) { return remove_at(AT_FDCWD, path, AT_REMOVEDIR); }

int mkdirat(int at, const char *path, mode_t mode) {
  char absolute[8200];
  NAMED(to_inside(at, path, absolute, sizeof absolute), note_name(MKDIR, absolute),
        syscall(SYS_mkdirat, at, path, mode));
}
int mkdir(const char *path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }

int link(const char *from, const char *to) {
  char absolute[8200];
  NAMED(to_inside(AT_FDCWD, to, absolute, sizeof absolute) && !inode_of(absolute), note_name(CREATE, absolute),
        syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0));
}

static void note_rename(const char *from, const char *to) {
  struct note note = {.kind = RENAME, .parent = parent_of(to), .inode = keep(from), .replaced = keep(to)};
  if (note.inode) add(&note, from, to, 0);
}

int renameat2(int from_at, const char *from, int to_at, const char *to, unsigned flags) {
  char from_absolute[8200], to_absolute[8200];
  NAMED(to_inside(from_at, from, from_absolute, sizeof from_absolute) &&
            to_inside(to_at, to, to_absolute, sizeof to_absolute),
        note_rename(from_absolute, to_absolute), syscall(SYS_renameat2, from_at, from, to_at, to, flags));
}
int renameat(int from_at, const char *from, int to_at, const char *to) {
  return renameat2(from_at, from, to_at, to, 0);
}
int rename(const char *from, const char *to) { return renameat2(AT_FDCWD, from, AT_FDCWD, to, 0); }
