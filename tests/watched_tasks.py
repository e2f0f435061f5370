"""Long tasks for tests: what would be shown, and when."""

import pytest

from rankwise import long_tasks


@pytest.fixture
def shown(monkeypatch):
    """The text and the fraction of every step, as if a bar were shown."""
    steps, show = [], long_tasks._Bar.show

    def watched(bar, text, level, done):
        show(bar, text, level, done)
        steps.append((bar.text, bar.done))

    monkeypatch.setattr(long_tasks._Bar, "show", watched)
    monkeypatch.setattr(long_tasks, "_screen", lambda: long_tasks._terminal)
    monkeypatch.setattr(long_tasks, "PATIENCE_SECONDS", 3600.0)
    return steps
