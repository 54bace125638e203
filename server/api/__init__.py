"""HTTP: routes, wire models, one error shape. No decision is made here.

`factory.create_api` makes the application; `requests.ApiState` is what its routes work with.
"""
