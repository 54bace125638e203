"""HTTP: routes, wire models, one error shape. No decision is made here."""
