"""`python -m recrawl` and the command `recrawl`."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command line and exit with its code."""
    # Nothing here multiplies matrices; OpenBLAS would start threads that spin for work.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

    from recrawl.cli.app import run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
