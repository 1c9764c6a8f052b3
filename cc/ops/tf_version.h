// Everything here that depends on the version of TensorFlow is decided in this header.
//
// The build defines REVERB_TF_TENSORFLOW_VERSION ("2.21.0") from the installed TensorFlow, and the
// TF_*_VERSION numbers where TensorFlow's own headers no longer do.
#ifndef REVERB_TF_OPS_TF_VERSION_H_
#define REVERB_TF_OPS_TF_VERSION_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "tensorflow/core/public/version.h"

#if !defined(REVERB_TF_TENSORFLOW_VERSION) || !defined(TF_MAJOR_VERSION) || \
    !defined(TF_MINOR_VERSION)
#error "The build must define the version of TensorFlow that the ops are compiled against."
#endif

#if TF_MAJOR_VERSION * 1000 + TF_MINOR_VERSION < 2015
#error "The ops need TensorFlow 2.15 or newer."
#endif

#endif  // REVERB_TF_OPS_TF_VERSION_H_
