#include "cc/wire/cursor.h"

#include <algorithm>
#include <limits>

namespace reverb_tf::wire {

Cursor::Cursor(const std::string_view* pieces, size_t num_pieces)
    : next_(pieces), pieces_end_(pieces + num_pieces) {
  for (size_t i = 0; i < num_pieces; ++i) remaining_ += pieces[i].size();
  if (remaining_ > 0) NextPiece();
}

bool Cursor::NextPiece() {
  while (next_ != pieces_end_) {
    ptr_ = next_->data();
    piece_end_ = ptr_ + next_->size();
    ++next_;
    if (ptr_ != piece_end_) return true;
  }
  return false;
}

bool Cursor::ReadVarint(uint64_t* value) {
  if (remaining_ == 0) return false;
  if (ptr_ != piece_end_ && static_cast<unsigned char>(*ptr_) < 0x80) {
    *value = static_cast<unsigned char>(*ptr_++);
    --remaining_;
    return true;
  }
  return ReadVarintSlow(value);
}

bool Cursor::ReadVarintSlow(uint64_t* value) {
  uint64_t result = 0;
  for (int shift = 0; shift < 70; shift += 7) {
    if (remaining_ == 0 || (ptr_ == piece_end_ && !NextPiece())) return false;
    const uint64_t byte = static_cast<unsigned char>(*ptr_++);
    --remaining_;
    if (shift == 63 && byte > 1) return false;
    result |= (byte & 0x7f) << shift;
    if (byte < 0x80) {
      *value = result;
      return true;
    }
  }
  return false;
}

bool Cursor::ReadInt64(int64_t* value) {
  uint64_t bits;
  if (!ReadVarint(&bits)) return false;
  *value = static_cast<int64_t>(bits);
  return true;
}

bool Cursor::ReadInt32(int32_t* value) {
  int64_t wide;
  if (!ReadInt64(&wide)) return false;
  if (wide < std::numeric_limits<int32_t>::min() || wide > std::numeric_limits<int32_t>::max()) {
    return false;
  }
  *value = static_cast<int32_t>(wide);
  return true;
}

bool Cursor::ReadBool(bool* value) {
  uint64_t bits;
  if (!ReadVarint(&bits)) return false;
  *value = bits != 0;
  return true;
}

bool Cursor::ReadDouble(double* value) { return Copy(value, sizeof *value); }

bool Cursor::ReadTag(uint32_t* field, WireType* type) {
  uint64_t tag;
  if (!ReadVarint(&tag) || tag > std::numeric_limits<uint32_t>::max()) return false;
  *field = static_cast<uint32_t>(tag >> 3);
  *type = static_cast<WireType>(tag & 7);
  switch (*type) {
    case WireType::kVarint:
    case WireType::kFixed64:
    case WireType::kDelimited:
    case WireType::kFixed32:
      return *field != 0;
  }
  return false;
}

bool Cursor::SkipValue(WireType type) {
  switch (type) {
    case WireType::kVarint: {
      uint64_t ignored;
      return ReadVarint(&ignored);
    }
    case WireType::kFixed64:
      return Skip(8);
    case WireType::kFixed32:
      return Skip(4);
    case WireType::kDelimited: {
      uint64_t length;
      return ReadVarint(&length) && Skip(length);
    }
  }
  return false;
}

bool Cursor::ReadDelimited(Cursor* value) {
  uint64_t length;
  if (!ReadVarint(&length) || length > remaining_) return false;
  *value = *this;
  value->remaining_ = length;
  return Skip(length);
}

bool Cursor::Copy(void* out, size_t n) {
  if (n > remaining_) return false;
  remaining_ -= n;
  char* to = static_cast<char*>(out);
  while (n > 0) {
    if (ptr_ == piece_end_ && !NextPiece()) return false;
    const size_t part = std::min(n, static_cast<size_t>(piece_end_ - ptr_));
    std::memcpy(to, ptr_, part);
    to += part;
    ptr_ += part;
    n -= part;
  }
  return true;
}

bool Cursor::Skip(size_t n) {
  if (n > remaining_) return false;
  remaining_ -= n;
  while (n > static_cast<size_t>(piece_end_ - ptr_)) {
    n -= static_cast<size_t>(piece_end_ - ptr_);
    if (!NextPiece()) return false;
  }
  ptr_ += n;
  return true;
}

std::string_view Cursor::View(std::string* scratch) const {
  Cursor rest = *this;
  if (rest.remaining_ > 0 && rest.ptr_ == rest.piece_end_) rest.NextPiece();
  if (rest.remaining_ <= static_cast<size_t>(rest.piece_end_ - rest.ptr_)) {
    return {rest.ptr_, rest.remaining_};
  }
  scratch->resize(rest.remaining_);
  const size_t n = rest.remaining_;
  rest.Copy(scratch->data(), n);
  return {scratch->data(), n};
}

Cursor Cursor::First(size_t n) const {
  Cursor first = *this;
  first.remaining_ = std::min(n, remaining_);
  return first;
}

void Cursor::AppendPieces(std::vector<std::string_view>* out) const {
  Cursor rest = *this;
  while (rest.remaining_ > 0) {
    if (rest.ptr_ == rest.piece_end_ && !rest.NextPiece()) return;
    const size_t part = std::min(rest.remaining_, static_cast<size_t>(rest.piece_end_ - rest.ptr_));
    out->emplace_back(rest.ptr_, part);
    rest.ptr_ += part;
    rest.remaining_ -= part;
  }
}

bool ReadUint64s(Cursor* cursor, WireType type, std::vector<uint64_t>* values) {
  uint64_t value;
  if (type == WireType::kVarint) {
    if (!cursor->ReadVarint(&value)) return false;
    values->push_back(value);
    return true;
  }
  Cursor packed;
  if (type != WireType::kDelimited || !cursor->ReadDelimited(&packed)) return false;
  while (!packed.done()) {
    if (!packed.ReadVarint(&value)) return false;
    values->push_back(value);
  }
  return true;
}

bool IsUtf8(std::string_view bytes) {
  const auto* p = reinterpret_cast<const unsigned char*>(bytes.data());
  const auto* end = p + bytes.size();
  while (p != end) {
    if (*p < 0x80) {
      ++p;
      continue;
    }
    int more;
    uint32_t code;
    uint32_t least;
    if ((*p & 0xe0) == 0xc0) {
      more = 1, code = *p & 0x1f, least = 0x80;
    } else if ((*p & 0xf0) == 0xe0) {
      more = 2, code = *p & 0x0f, least = 0x800;
    } else if ((*p & 0xf8) == 0xf0) {
      more = 3, code = *p & 0x07, least = 0x10000;
    } else {
      return false;
    }
    if (end - p <= more) return false;
    for (int i = 1; i <= more; ++i) {
      if ((p[i] & 0xc0) != 0x80) return false;
      code = (code << 6) | (p[i] & 0x3f);
    }
    if (code < least || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return false;
    p += more + 1;
  }
  return true;
}

}  // namespace reverb_tf::wire
