"""The test suite in other surroundings: processors, locales, folders, users, versions."""
