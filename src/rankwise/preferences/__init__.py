"""The pairs of rows to compare, as difference operators ``F`` with ``FᵀF = L``."""
