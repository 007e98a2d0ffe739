"""What the readers of retrieval results share: judgments, runs, measures and stated figures."""
