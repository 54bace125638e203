"""From a conversation to what its customer wants, as a proposal that binds nobody."""
