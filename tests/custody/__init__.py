"""Custody: what was accepted stays, whatever happens to writers, readers, files and disks."""
