"""Pure functions: validated operators in, a frozen result out."""
