// Reads protobuf's wire format out of memory that may lie in several pieces.
#ifndef REVERB_TF_WIRE_CURSOR_H_
#define REVERB_TF_WIRE_CURSOR_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cc/wire/wire_format.h"

namespace reverb_tf::wire {

// A position in a sequence of pieces and the number of bytes that may still be read. A plain value:
// copies read on independently. The pieces (and the array of them) must outlive it. Not
// thread-safe.
//
// Nothing that is read can lead outside the pieces: every function returns false, without a defined
// position afterwards, when the bytes end too early or are not well-formed.
class Cursor {
 public:
  Cursor() = default;
  explicit Cursor(std::string_view bytes)
      : ptr_(bytes.data()), piece_end_(bytes.data() + bytes.size()), remaining_(bytes.size()) {}
  Cursor(const std::string_view* pieces, size_t num_pieces);

  size_t remaining() const { return remaining_; }
  bool done() const { return remaining_ == 0; }

  bool ReadVarint(uint64_t* value);
  // A varint that must be a valid int32 (negative ones are sign-extended to 64 bits).
  bool ReadInt32(int32_t* value);
  bool ReadInt64(int64_t* value);
  bool ReadBool(bool* value);
  bool ReadDouble(double* value);

  // Field numbers from 1; groups are refused.
  bool ReadTag(uint32_t* field, WireType* type);
  // Skips the value of a field.
  bool SkipValue(WireType type);

  // A length and so many bytes, which `value` covers afterwards.
  bool ReadDelimited(Cursor* value);
  // Copies or skips exactly n bytes.
  bool Copy(void* out, size_t n);
  bool Skip(size_t n);

  // Everything that remains: in place if it lies in one piece, else copied to `scratch`. Reads
  // nothing.
  std::string_view View(std::string* scratch) const;
  // The next n bytes, or what remains if that is less. Reads nothing.
  Cursor First(size_t n) const;
  // Appends what remains, piece by piece. Reads nothing.
  void AppendPieces(std::vector<std::string_view>* out) const;

 private:
  bool NextPiece();
  bool ReadVarintSlow(uint64_t* value);

  const char* ptr_ = nullptr;
  const char* piece_end_ = nullptr;
  const std::string_view* next_ = nullptr;
  const std::string_view* pieces_end_ = nullptr;
  size_t remaining_ = 0;
};

// Reads fields until nothing remains: calls `read_value(field, type)` for each, which reads (or
// skips) the value and returns false when it cannot. False as soon as something is malformed.
template <typename ReadValue>
bool ReadMessage(Cursor* cursor, ReadValue read_value) {
  while (!cursor->done()) {
    uint32_t field;
    WireType type;
    if (!cursor->ReadTag(&field, &type) || !read_value(field, type)) return false;
  }
  return true;
}

// The value of a repeated uint64 field, appended: one number, or a packed list of them.
bool ReadUint64s(Cursor* cursor, WireType type, std::vector<uint64_t>* values);

// True for well-formed UTF-8 (no surrogates, nothing above U+10FFFF, shortest forms only).
bool IsUtf8(std::string_view bytes);

}  // namespace reverb_tf::wire

#endif  // REVERB_TF_WIRE_CURSOR_H_
