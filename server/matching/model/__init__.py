"""What turns a question into probabilities; go to `head_store.head_for`."""
