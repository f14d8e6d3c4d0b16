"""Serves jobs of `tune` and `explore`: what their executors start, not people. Usage: _worker.py PACKAGE_FOLDER
--folder FOLDER [--job ID] [--attempt N]; without --job, the jobs named on standard input."""
import argparse
import sys


def main() -> int:
    """Runs the jobs; returns the exit code."""
    parser = argparse.ArgumentParser()
    parser.add_argument("package")
    parser.add_argument("--folder", required=True)
    parser.add_argument("--job", action="append", default=[])
    parser.add_argument("--attempt", type=int, default=1)
    options = parser.parse_args()
    sys.path[0] = options.package  # was this file's folder
    from tilewright import _native
    return _native.serve_jobs(options.folder, options.job, options.attempt)


if __name__ == "__main__":
    sys.exit(main())
