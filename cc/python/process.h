// What a forked child may still do.
#ifndef REVERB_TF_PYTHON_PROCESS_H_
#define REVERB_TF_PYTHON_PROCESS_H_

namespace reverb_tf::python {

// Called once, when the module is loaded.
void WatchForks();

// Notes that this process now has the library's threads and connections, which a fork does not
// carry over. Throws as CheckProcess().
void UseProcess();

// Throws FailedPreconditionError in a child that was forked after UseProcess(): no call can work
// there, and none may hang.
void CheckProcess();

// True in such a child. Native objects are leaked there: their destructors would wait for threads
// that do not exist.
bool ForkedAfterUse();

}  // namespace reverb_tf::python

#endif  // REVERB_TF_PYTHON_PROCESS_H_
