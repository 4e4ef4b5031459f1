package main

/*
#define _GNU_SOURCE
#include <link.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

// let_go_of gives back the pages of an object that are as its file has them. What
// can be written may hold more than the file.
static int let_go_of(struct dl_phdr_info *object, size_t size, void *none) {
	uintptr_t within = (uintptr_t)sysconf(_SC_PAGESIZE) - 1;
	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &object->dlpi_phdr[i];
		if (part->p_type != PT_LOAD || part->p_flags & PF_W)
			continue;
		uintptr_t from = (object->dlpi_addr + part->p_vaddr + within) & ~within;
		uintptr_t to = (object->dlpi_addr + part->p_vaddr + part->p_filesz) & ~within;
		if (from < to)
			madvise((void *)from, to - from, MADV_DONTNEED);
	}
	return 1; // the first object is the program, and no other is looked at
}

static void let_go_of_program(void) { dl_iterate_phdr(let_go_of, NULL); }
*/
import "C"

// letGoOfProgram gives back the pages of the program's own file. Its start touches
// nearly all of them, what it does afterwards less than half. Those come back from
// the system's cache as they are needed, in well under a millisecond.
func letGoOfProgram() { C.let_go_of_program() }
