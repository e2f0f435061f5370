"""Judged rows in parts that other processes hold: the same losses and families, with other operators.

`variants` lists all functions of the core that have a variant for rows in parts.
"""

from rankwise.cluster import variants as variants
