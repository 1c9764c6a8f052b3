from tests.tf import support
from tests.tf.conftest import in_thread as in_thread

support.use_four_cpus()
