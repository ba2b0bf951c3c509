"""Benchmarks of cogvault: ``python -m benchmarks NAME --help``. Row names are fixed in shared/benchmarks.md."""
