"""Layers: a card or a folder in about 100 tokens (L0) and in 500 to 2,000 (L1)."""
