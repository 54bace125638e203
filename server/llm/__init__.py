"""What chat models do in a turn: phrase a result, fill what is missing, converse, propose."""
