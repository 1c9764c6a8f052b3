#include "cc/wire/message_pieces.h"

#include <utility>

namespace reverb_tf::wire {
namespace {

std::string_view View(const grpc::Slice& slice) {
  return {reinterpret_cast<const char*>(slice.begin()), slice.size()};
}

class SharedSlices : public core::ChunkPieces {
 public:
  explicit SharedSlices(size_t most) {
    slices_.reserve(most);  // they must not move
    views_.reserve(most);
  }
  // The bytes [first, first + n) of the slice. gRPC keeps a few bytes in the slice itself: the view
  // has to be one of our own slice.
  void Add(const grpc::Slice& slice, size_t first, size_t n) {
    slices_.push_back(slice);
    views_.push_back(View(slices_.back()).substr(first, n));
  }

 private:
  std::vector<grpc::Slice> slices_;
};

}  // namespace

bool MessagePieces::Reset(const grpc::ByteBuffer& message) {
  slices_.clear();
  views_.clear();
  // An empty message is a valid one and has no pieces.
  if (message.Valid() && message.Length() > 0 && !message.Dump(&slices_).ok()) return false;
  views_.reserve(slices_.size());
  for (const grpc::Slice& slice : slices_) views_.push_back(View(slice));
  return true;
}

std::unique_ptr<const core::ChunkPieces> MessagePieces::Share(const Cursor& part) const {
  std::vector<std::string_view> views;
  part.AppendPieces(&views);
  auto shared = std::make_unique<SharedSlices>(views.size());
  auto view = views.begin();
  for (size_t i = 0; i < slices_.size() && view != views.end(); ++i) {
    // Both are in the order of the message, and no view is in two slices.
    const char* const begin = views_[i].data();
    if (view->data() < begin || view->data() >= begin + views_[i].size()) continue;
    shared->Add(slices_[i], static_cast<size_t>(view->data() - begin), view->size());
    ++view;
  }
  return shared;
}

}  // namespace reverb_tf::wire
