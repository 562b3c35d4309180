"""Stored comparisons and their readers."""
