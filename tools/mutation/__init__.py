"""Mutation tests: small faults are put into the translator's code, and a test should fail for each."""
