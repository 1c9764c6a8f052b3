#include "cc/checkpoint/restore.h"

#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "cc/checkpoint/loader.h"
#include "cc/wire/table_record.h"

namespace reverb_tf::checkpoint {
namespace {

using Tables = std::vector<std::shared_ptr<core::Table>>;

std::shared_ptr<core::Table> FindTable(const Tables& tables, const std::string& name) {
  for (const std::shared_ptr<core::Table>& table : tables) {
    if (table->name() == name) return table;
  }
  return nullptr;
}

// Nullopt: there is no checkpoint, and there need not be one.
Result<std::optional<Place>> FindWhatToLoad(FileSystem* files, const CheckpointOptions& options) {
  Result<Place> place = FindCheckpoint(files, options.path);
  if (place.ok()) return std::optional<Place>(*std::move(place));
  if (place.status().code() != StatusCode::kNotFound) return place.status();
  if (options.fallback_path.empty()) {
    if (options.must_restore) return place.status();
    return std::optional<Place>();
  }
  Result<Place> fallback = FindCheckpoint(files, options.fallback_path);
  if (fallback.ok()) return std::optional<Place>(*std::move(fallback));
  return Status(fallback.status().code(),
                place.status().message() + "; of the fallback: " + fallback.status().message());
}

Status CheckTables(const std::vector<core::TableSnapshot>& snapshots, const Tables& tables,
                   const std::string& path) {
  std::string missing;
  for (const core::TableSnapshot& snapshot : snapshots) {
    const std::string& name = snapshot.options.name;
    if (FindTable(tables, name) == nullptr) missing += (missing.empty() ? "'" : ", '") + name + "'";
  }
  if (missing.empty()) return OkStatus();
  std::string present;
  for (const auto& table : tables) present += (present.empty() ? "'" : ", '") + table->name() + "'";
  return InvalidArgumentError("the checkpoint " + path + " has tables that the server does not: " +
                              missing + "; the server has " + present);
}

std::vector<std::string> Differences(const core::Table& table, TableOptions checkpoint) {
  TableOptions here = table.Settings();
  if (here.signature) here.signature = wire::CanonicalSignature(*here.signature);
  if (checkpoint.signature) {
    checkpoint.signature = wire::CanonicalSignature(*checkpoint.signature);
  }
  return core::DescribeDifferences(here, checkpoint);
}

Status FillTable(core::Table* table, core::TableSnapshot snapshot, RestoreReport* report) {
  const std::string prefix = "table '" + table->name() + "': ";
  for (const std::string& line : Differences(*table, snapshot.options)) {
    report->differences.push_back(prefix + line);
  }
  const auto num_items = static_cast<int64_t>(snapshot.items.size());
  REVERB_TF_ASSIGN_OR_RETURN(const int64_t dropped, table->Restore(std::move(snapshot)));
  report->num_items += num_items - dropped;
  if (dropped > 0) {
    report->differences.push_back(prefix + std::to_string(dropped) + " of the " +
                                  std::to_string(num_items) +
                                  " items of the checkpoint are dropped by these settings");
  }
  return OkStatus();
}

bool IsSameFolder(const std::string& a, const std::string& b) {
  std::error_code error;
  return std::filesystem::equivalent(a, b, error) && !error;
}

}  // namespace

Result<Restored> Restore(FileSystem* files, const CheckpointOptions& options,
                         const CheckpointLoadOptions& load, const Tables& tables, Store* store) {
  REVERB_TF_ASSIGN_OR_RETURN(const std::optional<Place> place, FindWhatToLoad(files, options));
  Restored restored;
  if (!place) return restored;
  Loader loader(files, *place, load);
  REVERB_TF_RETURN_IF_ERROR(loader.ReadTablesAndItems());
  REVERB_TF_RETURN_IF_ERROR(CheckTables(loader.tables(), tables, place->folder()));
  REVERB_TF_RETURN_IF_ERROR(loader.ReadChunks());
  REVERB_TF_ASSIGN_OR_RETURN(std::vector<core::TableSnapshot> snapshots, loader.TakeTables());
  for (core::TableSnapshot& snapshot : snapshots) {
    const std::shared_ptr<core::Table> table = FindTable(tables, snapshot.options.name);
    const Status status = FillTable(table.get(), std::move(snapshot), &restored.report);
    if (!status.ok()) {
      for (const auto& filled : restored.filled) filled->Reset().IgnoreError();
      return status.WithContext("the checkpoint " + place->folder() + " cannot be restored");
    }
    restored.filled.push_back(table);
  }
  if (IsSameFolder(place->root, store->root())) store->SetStored(loader.TakeStored());
  restored.report.path = place->folder();
  restored.report.num_bytes = loader.num_bytes();
  return restored;
}

}  // namespace reverb_tf::checkpoint
