"""Exact search of products of conditions, over tables of joint values."""
