"""Search products of conditions exactly, over tables of joint values."""
