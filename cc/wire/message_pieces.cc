#include "cc/wire/message_pieces.h"

#include <utility>

namespace reverb_tf::wire {
namespace {

class SharedSlices : public core::ChunkPieces {
 public:
  explicit SharedSlices(std::vector<std::string_view> views) { views_ = std::move(views); }
  std::vector<grpc::Slice> slices;
};

}  // namespace

bool MessagePieces::Reset(const grpc::ByteBuffer& message) {
  slices_.clear();
  views_.clear();
  // An empty message is a valid one and has no pieces.
  if (message.Valid() && message.Length() > 0 && !message.Dump(&slices_).ok()) return false;
  views_.reserve(slices_.size());
  for (const grpc::Slice& slice : slices_) {
    views_.emplace_back(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return true;
}

std::unique_ptr<const core::ChunkPieces> MessagePieces::Share(const Cursor& part) const {
  std::vector<std::string_view> views;
  part.AppendPieces(&views);
  auto shared = std::make_unique<SharedSlices>(std::move(views));
  auto view = shared->views().begin();
  for (size_t i = 0; i < slices_.size() && view != shared->views().end(); ++i) {
    // Both are in the order of the message, and no view is in two slices.
    if (view->data() < views_[i].data() || view->data() >= views_[i].data() + views_[i].size())
      continue;
    shared->slices.push_back(slices_[i]);
    ++view;
  }
  return shared;
}

}  // namespace reverb_tf::wire
