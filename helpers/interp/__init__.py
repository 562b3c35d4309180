"""Interpretability: hooks, ablation, induction heads."""
