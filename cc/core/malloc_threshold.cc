#include "cc/core/malloc_threshold.h"

#include <cstddef>
#include <cstdlib>

namespace reverb_tf::core {
namespace {

// The largest block that raises the limit is one of 32 MiB with its header.
constexpr size_t kBlockSize = (size_t{32} << 20) - (size_t{64} << 10);

bool FreeALargeBlock() {
  // Volatile: the compiler may not leave the pair out.
  void* volatile block = std::malloc(kBlockSize);
  std::free(block);
  return true;
}

}  // namespace

void KeepFreedMemory() { [[maybe_unused]] static const bool once = FreeALargeBlock(); }

}  // namespace reverb_tf::core
