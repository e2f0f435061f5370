"""Training beyond one machine, on the workers of a Dask cluster; needs the 'dask' extra."""

from rankwise.errors import MissingExtraError

try:
    import distributed as _distributed  # noqa: F401
except ImportError:
    raise MissingExtraError("rankwise.dask", "dask") from None

from rankwise.dask.data import DistributedData as DistributedData
from rankwise.dask.waiting import ClusterError as ClusterError

__all__ = ["ClusterError", "DistributedData"]
