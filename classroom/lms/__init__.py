"""The learning management systems: Moodle, Canvas and Gradescope."""
