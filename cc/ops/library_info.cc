// What the Python package reads from this library's file before it loads it.
#include "cc/ops/tf_version.h"

// Found by its prefix: see reverb_tf/_tf/op_library.py.
extern "C" {
extern const char reverb_tf_ops_built_for[];
__attribute__((used, retain)) const char reverb_tf_ops_built_for[] =
    "reverb_tf ops built for TensorFlow " REVERB_TF_TENSORFLOW_VERSION ";";
}
