"""Replicas behind a balancer: what `utils/cluster/run` claims, and that it can say no."""
