// Marks what libreverb_tf_core.so exports. Everything else is hidden.
#ifndef REVERB_TF_EXPORT_H_
#define REVERB_TF_EXPORT_H_

#define REVERB_TF_EXPORT __attribute__((visibility("default")))

#endif  // REVERB_TF_EXPORT_H_
