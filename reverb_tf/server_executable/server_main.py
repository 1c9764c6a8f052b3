"""The reverb_server command: serves the tables of a configuration until it is interrupted."""

import sys
from collections.abc import Sequence

from absl import app, flags
from google.protobuf import text_format

from reverb_tf import server
from reverb_tf.platform.default import server_main_command_line_args
from reverb_tf.server_executable import server_from_proto

# What a shell reports for a command that Ctrl-C has ended.
_INTERRUPTED = 130


def _start() -> server.Server:
    config = server_main_command_line_args.get_server_config_proto()
    return server.Server(
        tables=server_from_proto.tables_from_proto(config.tables),
        port=config.port,
        host=server_main_command_line_args.get_host(),
    )


def main(argv: Sequence[str]) -> int:
    """Serves until Ctrl-C. Prints one line when it listens, and one when it cannot.

    Args:
      argv: The name of the program and what follows its flags, which must be nothing.

    Returns:
      The exit code: 130 after Ctrl-C, 1 if the configuration is wrong or the port is taken.
    """
    if len(argv) > 1:
        raise app.UsageError(f"Arguments that are no flags: {' '.join(argv[1:])}")
    try:
        with _start() as running:
            print(f"reverb_server: serving on port {running.port}", flush=True)
            running.wait()
    except KeyboardInterrupt:
        return _INTERRUPTED
    except text_format.ParseError as e:
        print(f"reverb_server: --config is no ReverbServerConfig: {e}", file=sys.stderr)
        return 1
    except (ValueError, NotImplementedError, TypeError) as e:  # among them BindError
        print(f"reverb_server: {' '.join(str(e).split())}", file=sys.stderr)
        return 1
    return 0


def app_run_main() -> None:
    """What the console script calls."""
    for name in ("config", "host"):  # so that --help lists them
        flags.FLAGS.register_key_flag_for_module(sys.argv[0], flags.FLAGS[name])
    app.run(main)


if __name__ == "__main__":
    app_run_main()
