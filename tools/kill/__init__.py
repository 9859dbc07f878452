"""Kills of dbt, of Spark and of both in the middle of their work: is anything lost, doubled or stuck afterwards?"""
