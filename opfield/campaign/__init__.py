"""Custody: a campaign carried out, recorded event by event, and judged by its views."""
