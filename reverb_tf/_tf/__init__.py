"""What needs TensorFlow and is shared by the modules that do. Private."""
