"""Text, tables, stores, logs and TREC files: read as rows, and written."""
