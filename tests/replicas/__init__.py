"""Two whole servers on one database: on one machine, and on several."""
