"""The two players of the game: the Auditor, and the learners that answer it."""
