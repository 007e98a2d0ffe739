"""Intake: results of other tools become campaigns under full custody."""
