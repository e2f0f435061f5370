"""Several raters of the same documents: how far they agree, and what their judgments are worth together."""

from rankwise.raters.study import RaterStudy, study_raters
from rankwise.readers.rating_files import load_ratings
from rankwise.rows.ratings import Ratings

__all__ = ["RaterStudy", "Ratings", "load_ratings", "study_raters"]
