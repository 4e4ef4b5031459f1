package main

/*
#include <malloc.h>

// glibc gives threads heaps of their own. SQLite is called from many threads, one
// after the other, and what it frees in one of them the next does not use again:
// together they kept twice the memory. To be said before the first thread begins,
// which is before Go does.
__attribute__((constructor)) static void share_heap(void) {
#ifdef M_ARENA_MAX
	mallopt(M_ARENA_MAX, 1);
#endif
}
*/
import "C"
