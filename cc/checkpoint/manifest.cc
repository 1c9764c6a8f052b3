#include "cc/checkpoint/manifest.h"

#include <cstdio>
#include <sstream>

#include "cc/checkpoint/crc32c.h"
#include "cc/checkpoint/layout.h"

namespace reverb_tf::checkpoint {
namespace {

constexpr std::string_view kStart = "reverb_tf checkpoint, version ";
constexpr std::string_view kVersion = "1\n";
constexpr int64_t kMaxManifestBytes = 64 << 20;
constexpr size_t kChecksumLength = 18;  // "checksum 89abcdef\n"

std::string Checksum(std::string_view text) {
  char line[kChecksumLength + 1];
  std::snprintf(line, sizeof line, "checksum %08x\n", Crc32c(text));
  return line;
}

void AppendLine(const char* kind, const ManifestFile& file, std::string* text) {
  *text += std::string(kind) + " " + file.name + " " + std::to_string(file.num_bytes) + " " +
           std::to_string(file.num_records) + "\n";
}

}  // namespace

std::string SerializeManifest(const Manifest& manifest) {
  std::string text = std::string(kStart) + std::string(kVersion);
  AppendLine("tables", manifest.tables, &text);
  AppendLine("items", manifest.items, &text);
  for (const ManifestFile& segment : manifest.segments) AppendLine("segment", segment, &text);
  return text + Checksum(text);
}

bool IsManifest(std::string_view text) { return text.substr(0, kStart.size()) == kStart; }

Result<Manifest> ParseManifest(std::string_view text) {
  if (!IsManifest(text)) return DataLossError("this is not a manifest of reverb_tf");
  const std::string_view version = text.substr(kStart.size());
  if (text.size() < kStart.size() + kVersion.size() + kChecksumLength ||
      text.substr(text.size() - kChecksumLength) !=
          Checksum(text.substr(0, text.size() - kChecksumLength))) {
    return DataLossError("the manifest is cut off or its checksum does not fit");
  }
  if (version.substr(0, kVersion.size()) != kVersion) {
    return UnimplementedError("the checkpoint was written by a later version of reverb_tf (" +
                              std::string(version.substr(0, version.find('\n'))) + ")");
  }
  std::istringstream lines(
      std::string(text.substr(kStart.size() + kVersion.size(),
                              text.size() - kStart.size() - kVersion.size() - kChecksumLength)));
  Manifest manifest;
  std::string kind;
  ManifestFile file;
  while (lines >> kind >> file.name >> file.num_bytes >> file.num_records) {
    if (kind == "tables") {
      manifest.tables = file;
    } else if (kind == "items") {
      manifest.items = file;
    } else if (kind == "segment" && IsSegmentName(file.name)) {
      manifest.segments.push_back(file);
    } else {
      return DataLossError("the manifest has a line that means nothing: '" + kind + " " +
                           file.name + "'");
    }
  }
  if (lines.eof() && manifest.tables.name == kTablesFile && manifest.items.name == kItemsFile) {
    return manifest;
  }
  return DataLossError("the manifest lacks tables or items, or has a malformed line");
}

Result<Manifest> ReadManifest(FileSystem* files, const std::string& folder) {
  const std::string path = JoinPath(folder, kManifestFile);
  REVERB_TF_ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(files, path, kMaxManifestBytes));
  Result<Manifest> manifest = ParseManifest(text);
  if (!manifest.ok()) return manifest.status().WithContext(path);
  return manifest;
}

}  // namespace reverb_tf::checkpoint
