"""The wrappers of the TensorFlow ops. Importing it loads TensorFlow and the op library.

Arguments are the inputs and attributes of the ops, and `name`; call them with keywords.
"""

from reverb_tf._tf import op_library

_ops = op_library.ops()

reverb_client = _ops.reverb_client
reverb_client_delete = _ops.reverb_client_delete
reverb_client_insert = _ops.reverb_client_insert
reverb_client_insert_batch = _ops.reverb_client_insert_batch
reverb_client_sample = _ops.reverb_client_sample
reverb_client_sample_batch = _ops.reverb_client_sample_batch
reverb_client_update_priorities = _ops.reverb_client_update_priorities
reverb_dataset = _ops.reverb_dataset
reverb_pattern_dataset = _ops.reverb_pattern_dataset
reverb_timestep_dataset = _ops.reverb_timestep_dataset
reverb_trajectory_dataset = _ops.reverb_trajectory_dataset
reverb_trajectory_writer = _ops.reverb_trajectory_writer
reverb_trajectory_writer_append = _ops.reverb_trajectory_writer_append
reverb_trajectory_writer_close = _ops.reverb_trajectory_writer_close
reverb_trajectory_writer_create_item = _ops.reverb_trajectory_writer_create_item
reverb_trajectory_writer_end_episode = _ops.reverb_trajectory_writer_end_episode
reverb_trajectory_writer_flush = _ops.reverb_trajectory_writer_flush
reverb_variable_pull = _ops.reverb_variable_pull
reverb_variable_pull_if_newer = _ops.reverb_variable_pull_if_newer
reverb_variable_push = _ops.reverb_variable_push
