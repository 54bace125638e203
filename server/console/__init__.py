"""The console: a page in the browser over the calls of `server/api`, and nothing of its own.

Open `page.py` first; `static/main.js` is where the page starts.
"""
