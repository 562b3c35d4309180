"""Stored comparisons, and what reads them."""
