package main

/*
#include <malloc.h>

// glibc gives each thread a heap of its own. SQLite is called from many threads, one
// after the other, and no thread uses again what another one freed: together they kept
// twice the memory. This must run before the first thread starts, hence before Go.
__attribute__((constructor)) static void share_heap(void) {
#ifdef M_ARENA_MAX
	mallopt(M_ARENA_MAX, 1);
#endif
}
*/
import "C"
