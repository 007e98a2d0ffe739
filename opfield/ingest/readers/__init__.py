"""The shipped readers; each comes by entry point, as a third party's does."""
