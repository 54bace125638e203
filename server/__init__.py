"""Orbit: plain questions in, safe and exact tool calls out."""

__version__ = "0.1.0"
