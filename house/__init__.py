"""How large the house is: what one person must hold in their head to follow a journey through it."""
