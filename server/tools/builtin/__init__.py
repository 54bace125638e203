"""The tools that come with the server: calculator, date_time, json_transform."""
