"""Which pairs of rows matter, as difference operators ``F`` with ``FᵀF = L``."""
