"""Serves tables of variables, pushes, and pulls what others pushed; of an unmodified dm-reverb, by lines of JSON.

Each line on standard input is a command: ["push", address, number], ["pull", address] or ["stop"]. The first line on
standard output is the port; then comes one answer a command.
"""

import json
import sys

import numpy as np
import reverb
import tensorflow as tf

SIGNATURE = {
    "layers": [(tf.TensorSpec([300, 400], tf.float32), tf.TensorSpec([400], tf.float32))] * 3,
    "names": tf.TensorSpec([2], tf.string),
    "step": tf.TensorSpec([], tf.int64),
}


def table(name="variables"):
    return reverb.Table(
        name=name,
        sampler=reverb.selectors.Uniform(),
        remover=reverb.selectors.Fifo(),
        rate_limiter=reverb.rate_limiters.MinSize(1),
        max_size=1,
        max_times_sampled=0,
        signature=SIGNATURE,
    )


def values(number):
    """Variables that all say `number`."""

    def value(spec):
        if spec.dtype == tf.string:
            return np.full(spec.shape, str(number).encode())
        return np.full(spec.shape, number, spec.dtype.as_numpy_dtype)

    return tf.nest.map_structure(value, SIGNATURE)


def main():
    server = reverb.Server([table()])
    print(server.port, flush=True)
    for line in sys.stdin:
        command, *arguments = json.loads(line)
        if command == "stop":
            break
        client = reverb.TFClient(arguments[0])
        if command == "push":
            client.insert(
                data=tf.nest.flatten(values(arguments[1])),
                tables=tf.constant(["variables"]),
                priorities=tf.constant([1.0], tf.float64),
            )
            print(json.dumps(None), flush=True)
        else:
            dtypes = tf.nest.map_structure(lambda spec: spec.dtype, SIGNATURE)
            data = client.sample("variables", data_dtypes=[dtypes]).data[0]
            found = {float(x) for leaf in tf.nest.flatten(data) for x in np.asarray(leaf).flat}
            shapes = [leaf.shape.as_list() for leaf in tf.nest.flatten(data)]
            print(json.dumps([sorted(found), shapes]), flush=True)
    server.stop()


if __name__ == "__main__":
    main()
