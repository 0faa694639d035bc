"""Tests of the Python host and of the shipped Python nodesets: `python -m unittest discover -t . -s tests`."""
