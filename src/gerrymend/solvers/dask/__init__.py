"""Keep blocks of rows on the workers of a Dask cluster, and play over them."""
