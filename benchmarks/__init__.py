"""Side by side in one run: what a round costs, against its floor and against peers."""
