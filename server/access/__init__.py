"""Who may ask: keys, their store, and what each of them opens."""
