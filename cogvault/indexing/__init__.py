"""Files to index: scan, plan, read, parse, chunk, apply."""
