"""One BLAS thread for each computation.

The products here take microseconds to a few milliseconds. Two threads hardly speed them
up, and on a machine that is busy each waits, spinning, for the other: a head that learns
in half a second alone took ten seconds beside eight other processes.
"""

from functools import cache

from threadpoolctl import threadpool_limits


@cache
def use_one_thread() -> None:
    """From now on, NumPy computes each product in the thread that asks for it."""
    threadpool_limits(limits=1, user_api="blas")
