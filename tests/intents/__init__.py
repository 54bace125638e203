"""The rule engine, its packs and its languages."""

from hypothesis import settings

settings.register_profile("orbit", deadline=None, derandomize=True)
settings.load_profile("orbit")
