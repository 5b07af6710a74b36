"""Scripted model servers on loopback: they speak a provider's protocol and say what a test wrote.

Strict on purpose: a call that no step expects and a step that no call used both fail the test.
"""
