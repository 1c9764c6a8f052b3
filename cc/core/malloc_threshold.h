// How much freed memory malloc keeps.
#ifndef REVERB_TF_CORE_MALLOC_THRESHOLD_H_
#define REVERB_TF_CORE_MALLOC_THRESHOLD_H_

namespace reverb_tf::core {

// Makes malloc keep freed memory that will be wanted again at once. Large messages come in many
// small buffers of gRPC's, and glibc gives memory back to the kernel as soon as 128 KiB at the end
// of a heap are free: then each message costs a page fault, with a page to clear, for every 4 KiB.
//
// glibc raises that limit by itself, to twice the size of the largest mapped block that the program
// has freed (64 MiB at most). This frees such a block, as any program with large arrays has
// done sooner or later; a limit set by the user (M_TRIM_THRESHOLD, M_MMAP_THRESHOLD,
// GLIBC_TUNABLES) stays, and other allocators are not impressed. The block is never touched, so it
// has no memory.
//
// Thread-safe, does not block. Only the first call of a process does something.
void KeepFreedMemory();

}  // namespace reverb_tf::core

#endif  // REVERB_TF_CORE_MALLOC_THRESHOLD_H_
