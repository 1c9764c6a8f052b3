// A selector that remembers what it was asked and what it chose.
#ifndef REVERB_TF_CORE_TESTING_RECORDING_SELECTOR_H_
#define REVERB_TF_CORE_TESTING_RECORDING_SELECTOR_H_

#include <deque>
#include <memory>
#include <utility>

#include "cc/core/selector.h"

namespace reverb_tf::core {

class RecordingSelector : public Selector {
 public:
  struct Record {
    std::deque<Slot> inserted;
    std::deque<Pick> picked;
  };

  RecordingSelector(std::unique_ptr<Selector> selector, std::shared_ptr<Record> record)
      : selector_(std::move(selector)), record_(std::move(record)) {}

  Status CheckPriority(double priority) const override {
    return selector_->CheckPriority(priority);
  }
  Status Insert(Slot slot, double priority) override {
    record_->inserted.push_back(slot);
    return selector_->Insert(slot, priority);
  }
  Status Delete(Slot slot) override { return selector_->Delete(slot); }
  Status Update(Slot slot, double priority) override { return selector_->Update(slot, priority); }
  Result<Pick> Sample() override {
    Result<Pick> pick = selector_->Sample();
    if (pick.ok()) record_->picked.push_back(*pick);
    return pick;
  }
  Status SampleMany(Pick* picks, size_t n) override {
    const Status status = selector_->SampleMany(picks, n);
    if (status.ok()) record_->picked.insert(record_->picked.end(), picks, picks + n);
    return status;
  }
  void Prefetch(Slot slot) const override { selector_->Prefetch(slot); }
  void Clear() override { selector_->Clear(); }
  size_t size() const override { return selector_->size(); }
  size_t memory_bytes() const override { return selector_->memory_bytes(); }
  const SelectorOptions& options() const override { return selector_->options(); }

 private:
  const std::unique_ptr<Selector> selector_;
  const std::shared_ptr<Record> record_;
};

}  // namespace reverb_tf::core

#endif  // REVERB_TF_CORE_TESTING_RECORDING_SELECTOR_H_
