"""Properties hold however busy the machine is, and on the same examples every time."""

from hypothesis import settings

settings.register_profile("orbit", deadline=None, derandomize=True)
settings.load_profile("orbit")
