#include "cc/checkpoint/layout.h"

#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace reverb_tf::checkpoint {
namespace {

constexpr int64_t kNanosPerSecond = 1000000000;
constexpr std::string_view kSegmentPrefix = "chunks-";
constexpr std::string_view kRecordSuffix = ".tfrecord";
constexpr size_t kSecondsLength = 19;  // "2026-11-30T13:04:40"
constexpr size_t kOffsetLength = 6;    // "+00:00"

// The characters of a pattern: '9' stands for a digit.
bool Matches(std::string_view text, std::string_view pattern) {
  if (text.size() != pattern.size()) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (pattern[i] == '9' ? !digit : text[i] != pattern[i]) return false;
  }
  return true;
}

bool AreDigits(std::string_view text) {
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
  }
  return !text.empty();
}

std::string Format(const std::tm& time, int64_t nanos, const std::string& offset) {
  char seconds[64];
  std::strftime(seconds, sizeof seconds, "%Y-%m-%dT%H:%M:%S", &time);
  std::string text = seconds;
  if (nanos > 0) {
    char fraction[16];
    std::snprintf(fraction, sizeof fraction, ".%09d", static_cast<int>(nanos));
    text += fraction;
    text.resize(text.find_last_not_of('0') + 1);
  }
  return text + offset;
}

}  // namespace

std::string TimestampName(int64_t wall_nanos) {
  const std::time_t seconds = static_cast<std::time_t>(wall_nanos / kNanosPerSecond);
  std::tm local{};
  localtime_r(&seconds, &local);
  const int minutes = static_cast<int>(std::labs(local.tm_gmtoff) / 60);
  char offset[16];
  std::snprintf(offset, sizeof offset, "%c%02d:%02d", local.tm_gmtoff < 0 ? '-' : '+',
                (minutes / 60) % 100, minutes % 60);
  return Format(local, wall_nanos % kNanosPerSecond, offset);
}

bool IsTimestampName(std::string_view name) {
  if (name.size() < kSecondsLength + kOffsetLength) return false;
  if (!Matches(name.substr(0, kSecondsLength), "9999-99-99T99:99:99")) return false;
  const std::string_view offset = name.substr(name.size() - kOffsetLength);
  if (!Matches(offset, "+99:99") && !Matches(offset, "-99:99")) return false;
  const std::string_view fraction =
      name.substr(kSecondsLength, name.size() - kSecondsLength - kOffsetLength);
  return fraction.empty() ||
         (fraction[0] == '.' && fraction.size() <= 10 && AreDigits(fraction.substr(1)));
}

std::string NextTimestampName(const std::string& name) {
  std::tm time{};
  strptime(name.substr(0, kSecondsLength).c_str(), "%Y-%m-%dT%H:%M:%S", &time);
  std::string fraction = name.substr(kSecondsLength, name.size() - kSecondsLength - kOffsetLength);
  if (!fraction.empty()) fraction.erase(0, 1);
  fraction.resize(9, '0');
  int64_t nanos = std::strtoll(fraction.c_str(), nullptr, 10) + 1;
  if (nanos == kNanosPerSecond) {
    nanos = 0;
    // As if it were UTC: the offset does not change here.
    const std::time_t next = timegm(&time) + 1;
    gmtime_r(&next, &time);
  }
  return Format(time, nanos, name.substr(name.size() - kOffsetLength));
}

std::string SegmentName(const std::string& checkpoint, int64_t n) {
  return std::string(kSegmentPrefix) + checkpoint + "-" + std::to_string(n) +
         std::string(kRecordSuffix);
}

bool IsSegmentName(std::string_view name) {
  if (name.size() < kSegmentPrefix.size() + kRecordSuffix.size()) return false;
  if (name.substr(0, kSegmentPrefix.size()) != kSegmentPrefix) return false;
  if (name.substr(name.size() - kRecordSuffix.size()) != kRecordSuffix) return false;
  name.remove_prefix(kSegmentPrefix.size());
  name.remove_suffix(kRecordSuffix.size());
  const size_t dash = name.rfind('-');
  return dash != std::string_view::npos && IsTimestampName(name.substr(0, dash)) &&
         AreDigits(name.substr(dash + 1));
}

bool IsCheckpointFileName(std::string_view name) {
  return name == kTablesFile || name == kItemsFile || name == kChunksFile ||
         name == kManifestFile || name == kDoneFile;
}

}  // namespace reverb_tf::checkpoint
