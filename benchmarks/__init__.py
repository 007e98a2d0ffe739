"""Benchmarks: each prints times as ratios to a named peer in the same run."""
