"""What counts: the grades of every sheet, what persons decided, and where both are kept."""
