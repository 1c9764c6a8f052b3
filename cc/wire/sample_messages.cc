#include <string>
#include <utility>

#include "cc/wire/chunk_codec.h"
#include "cc/wire/messages.h"
#include "cc/wire/wire_format.h"

namespace reverb_tf::wire {
namespace {

constexpr size_t kMaxResponseBytes = 2 << 20;

// SampleEntry: info = 1, data = 2, end_of_sequence = 3.
constexpr size_t kEndOfSequenceSize = 2;

constexpr uint32_t kTableVersion = 1000;
constexpr uint64_t kTableVersionTag = kTableVersion << 3;  // a varint

// SampleInfo: item = 1, probability = 2, table_size = 3, rate_limited = 4, table_version = 1000.
class InfoWriter {
 public:
  InfoWriter(const ItemView& item, const core::SampledItem& sample) : item_(item), sample_(sample) {
    size_ = DelimitedSize(item_.size()) + DoubleFieldSize(sample.probability) +
            VarintFieldSize(SignExtend(sample.table_size)) + VarintFieldSize(sample.rate_limited);
    if (sample.version >= 0) size_ += VersionSize();
  }
  size_t size() const { return size_; }
  char* Write(char* out) const {
    out = item_.Write(WriteDelimitedHeader(out, 1, item_.size()));
    out = WriteDoubleField(out, 2, sample_.probability);
    out = WriteVarintField(out, 3, SignExtend(sample_.table_size));
    out = WriteVarintField(out, 4, sample_.rate_limited);
    if (sample_.version < 0) return out;
    return WriteVarint(WriteVarint(out, kTableVersionTag), SignExtend(sample_.version));
  }

 private:
  // Present also if it is zero.
  size_t VersionSize() const {
    return VarintSize(kTableVersionTag) + VarintSize(SignExtend(sample_.version));
  }

  const ItemWriter item_;
  const core::SampledItem& sample_;
  size_t size_;
};

ItemView ViewOf(const std::string& table, const core::SampledItem& sample) {
  ItemView view;
  view.key = sample.key;
  view.table = table;
  view.priority = sample.priority;
  view.times_sampled = sample.times_sampled;
  view.inserted_at_nanos = sample.inserted_at_nanos;
  view.trajectory = sample.trajectory.get();
  return view;
}

Status Malformed(const char* message) {
  return InvalidArgumentError(std::string("a ") + message + " is malformed or cut off");
}

// SampleInfo without its item, which is returned as bytes.
bool ReadInfo(Cursor info, Cursor* item, core::SampledItem* sample) {
  return ReadMessage(&info, [&](uint32_t field, WireType type) {
    switch (field) {
      case 1:
        return type == WireType::kDelimited && info.ReadDelimited(item);
      case 2:
        return type == WireType::kFixed64 && info.ReadDouble(&sample->probability);
      case 3:
        return type == WireType::kVarint && info.ReadInt64(&sample->table_size);
      case 4:
        return type == WireType::kVarint && info.ReadBool(&sample->rate_limited);
      case kTableVersion:
        return type == WireType::kVarint && info.ReadInt64(&sample->version);
      default:
        return info.SkipValue(type);
    }
  });
}

core::ChunkRef Find(const std::vector<core::ChunkRef>& chunks, uint64_t key, size_t* hint) {
  // Chunks come in the order of first use, so that the next one wanted is nearly always the next
  // one.
  for (size_t i = 0; i < chunks.size(); ++i) {
    const size_t at = (*hint + i) % chunks.size();
    if (chunks[at]->key() == key) {
      *hint = at + 1;
      return chunks[at];
    }
  }
  return nullptr;
}

}  // namespace

void SampleResponseWriter::AddSample(const std::string& table, const core::SampledItem& sample,
                                     std::vector<grpc::ByteBuffer>* out) {
  const InfoWriter info(ViewOf(table, sample), sample);
  const core::Trajectory& trajectory = *sample.trajectory;
  int next = 0;
  bool first = true;
  while (first || next < trajectory.num_chunks()) {
    // As many chunks as it takes to pass the limit, or all.
    size_t entry_size = first ? DelimitedSize(info.size()) : 0;
    int end = next;
    do {
      entry_size += DelimitedSize(trajectory.chunk(end++)->num_bytes());
    } while (end < trajectory.num_chunks() &&
             writer_.num_bytes() + entry_size <= kMaxResponseBytes);
    const bool last = end == trajectory.num_chunks();
    if (last) entry_size += kEndOfSequenceSize;

    size_t header_size = 1 + VarintSize(entry_size);
    if (first) header_size += DelimitedSize(info.size());
    char* to = WriteDelimitedHeader(writer_.Extend(header_size), 1, entry_size);
    if (first) info.Write(WriteDelimitedHeader(to, 1, info.size()));
    for (; next < end; ++next) {
      const size_t size = trajectory.chunk(next)->num_bytes();
      WriteDelimitedHeader(writer_.Extend(1 + VarintSize(size)), 2, size);
      writer_.AddChunkBytes(trajectory.chunk(next));
    }
    if (last) WriteVarintField(writer_.Extend(kEndOfSequenceSize), 3, 1);
    if (writer_.num_bytes() > kMaxResponseBytes) out->push_back(writer_.Finish());
    first = false;
  }
}

Status SampleResponseReader::Read(const grpc::ByteBuffer& message,
                                  std::vector<core::SampledItem>* complete) {
  MessagePieces pieces;
  if (!pieces.Reset(message)) {
    return ResourceExhaustedError("a SampleStreamResponse could not be read");
  }
  Status error;
  Cursor cursor = pieces.cursor();
  const bool ok = ReadMessage(&cursor, [&](uint32_t field, WireType type) {
    if (field != 1) return cursor.SkipValue(type);
    Cursor entry;
    if (type != WireType::kDelimited || !cursor.ReadDelimited(&entry)) return false;
    error = ReadEntry(pieces, entry, complete);
    return error.ok();
  });
  if (ok) return OkStatus();
  return error.ok() ? Malformed("SampleStreamResponse") : error;
}

Status SampleResponseReader::ReadEntry(const MessagePieces& pieces, Cursor entry,
                                       std::vector<core::SampledItem>* complete) {
  const KeepPieces keep = [&pieces](const Cursor& part) { return pieces.Share(part); };
  Cursor info;
  bool has_info = false;
  bool end_of_sequence = false;
  Status error;
  const bool ok = ReadMessage(&entry, [&](uint32_t field, WireType type) {
    switch (field) {
      case 1:
        has_info = true;
        return type == WireType::kDelimited && entry.ReadDelimited(&info);
      case 2: {
        Cursor bytes;
        if (type != WireType::kDelimited || !entry.ReadDelimited(&bytes)) return false;
        Result<core::ChunkRef> chunk = ParseChunk(bytes, keep, align_arrays_);
        if (!chunk.ok()) {
          error = chunk.status();
          return false;
        }
        chunks_.push_back(*std::move(chunk));
        return true;
      }
      case 3:
        return type == WireType::kVarint && entry.ReadBool(&end_of_sequence);
      default:
        return entry.SkipValue(type);
    }
  });
  if (!ok) return error.ok() ? Malformed("SampleEntry") : error;
  if (!in_sample_ && !has_info) {
    return InternalError("the first entry of a sample has no info");
  }
  if (in_sample_) {
    // Only the first entry of a sample describes it.
    info = Cursor(info_bytes_);
  } else if (!end_of_sequence) {
    info_bytes_.resize(info.remaining());
    info.Copy(info_bytes_.data(), info_bytes_.size());
  }
  in_sample_ = !end_of_sequence;
  if (!end_of_sequence) return OkStatus();
  core::SampledItem sample;
  REVERB_TF_RETURN_IF_ERROR(FinishSample(info, &sample));
  complete->push_back(std::move(sample));
  return OkStatus();
}

Status SampleResponseReader::FinishSample(Cursor info, core::SampledItem* sample) {
  Cursor item_bytes;
  if (!ReadInfo(info, &item_bytes, sample)) return Malformed("SampleInfo");
  size_t hint = 0;
  Result<ParsedItem> parsed =
      ParseItem(item_bytes, [this, &hint](uint64_t key) { return Find(chunks_, key, &hint); });
  if (!parsed.ok()) return parsed.status().WithContext("a sample");
  sample->key = parsed->item.key;
  sample->priority = parsed->item.priority;
  sample->times_sampled = parsed->item.times_sampled;
  sample->inserted_at_nanos = parsed->inserted_at_nanos;
  sample->trajectory = std::move(parsed->item.trajectory);
  chunks_.clear();
  info_bytes_.clear();
  return OkStatus();
}

}  // namespace reverb_tf::wire
