"""Scores and weights of models without some of their rows, without fitting those models."""
