"""Tables and pages for lecturers and students."""
