"""Pages that go beyond the papers."""
