"""Providers of models: their protocols, their errors in words, and the demo that has no AI."""
